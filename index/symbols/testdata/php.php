<?php

declare(strict_types=1);

namespace App\Http\Controllers;

use App\Models\User;
use App\Services\{Mailer, Queue as Q};
use function App\helpers\now;
use const App\VERSION;

require_once __DIR__.'/bootstrap.php';
include 'helpers.php';

const LIMIT = 10;
define('DEFINED', 1);

if (! function_exists('helper')) {
    function helper($x)
    {
        return "{$x}";
    }
}

/** Doc. */
#[Attribute]
abstract class UserController extends Controller implements HasX
{
    use AuthorizesRequests, Other;

    public const STATUS = 'a';
    protected ?string $name = null;
    private static $count, $other = 0;

    public function __construct(private User $user)
    {
    }

    public static function make(array $a = []): static
    {
        $local = function () { return 1; };
        return new static;
    }

    abstract protected function handle(): void;
}

interface Shape extends Base
{
    const SIDES = 1;
    public function area(): float;
}

trait Greets
{
    public function hi() { return 'hi'; }
}

enum Suit: string
{
    case Hearts = 'H';
    case Spades = 'S';

    public function label(): string { return 'x'; }
}

function top_level(int ...$args): array
{
    return [];
}
