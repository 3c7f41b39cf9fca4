#include <vector>
#include "app/widget.hpp"
using namespace std;
using std::string;
using Alias = std::vector<int>;

namespace app::ui {

constexpr int kMax = 10;
class Forward;

template <typename T>
class Widget : public Base<T> {
 public:
  Widget();
  explicit Widget(int x) : x_(x) {}
  virtual ~Widget() = default;
  void draw() const;
  static Widget *create(int a);
  bool operator==(const Widget &o) const { return true; }
  int inlineMethod() { auto f = [] { return 1; }; return f(); }

  struct Inner { int v; void go(); };
  enum class Mode { On, Off };

 private:
  int x_ = 0;
  std::vector<int> items_;
};

template <typename T>
void Widget<T>::draw() const {
  int local;
}

struct Plain { int a; };
enum Old { A, B };
union U { int i; };

template <class T> T free_template(T a) { return a; }
template <typename T> concept Number = true;

namespace {
int hidden() { return 0; }
}

}  // namespace app::ui

app::ui::Plain *app::make(int n) { return nullptr; }

extern "C" {
int c_api(int x);
}

typedef struct { int q; } Legacy;
#define DECLARE(x) class x
static const char *table[] = {"{"};
int main(int argc, char **argv) { return 0; }
