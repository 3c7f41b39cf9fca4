package com.example.app;

import java.util.List;
import static java.util.Map.Entry;
import com.example.other.*;

/** Doc. */
@Deprecated
public abstract class Main<T> extends Base implements Runnable {
    public static final int MAX = 10;
    private String name, other;

    static { System.out.println("{"); }

    public Main(String name) {
        this.name = name;
    }

    @Override
    public void run() {
        Runnable r = () -> {};
        int local = 1;
    }

    protected abstract <R> List<R> map(T t);

    enum Level {
        LOW, HIGH { void x() {} };
        int code() { return 1; }
    }

    interface Visitor<R> {
        int CONST = 1;
        R visit(Main<?> m);
        default void done() {}
    }

    static class Nested {
        void inner() {}
    }
}

record Pair(int a, int b) {
    Pair { }
    int sum() { return a + b; }
}

@interface Marker {
    String value() default "";
}
