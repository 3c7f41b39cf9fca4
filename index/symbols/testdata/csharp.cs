using System;
using System.Collections.Generic;
using static System.Math;
using Alias = System.Text.StringBuilder;

namespace App.Core
{
    /// <summary>Doc</summary>
    [Serializable]
    public partial class Service<T> : Base, IService where T : class
    {
        private const int Max = 10;
        private readonly string _name, _other;
        public event EventHandler Changed;
        public string Name { get; set; } = "{";
        public int this[int i] => i;

        public Service(string name) { _name = name; }
        ~Service() { }

        public async Task<int> RunAsync(int x)
        {
            int Local(int y) => y;
            return await Task.FromResult(x);
        }

        public static bool operator ==(Service<T> a, Service<T> b) => true;
        int Expr() => 1;

        class Nested { void Deep() { } }
    }

    public interface IService { void Do(); int Value { get; } }
    public struct Point { public int X; }
    public record Person(string Name, int Age);
    public enum Level { Low, High = 2 }
    public delegate void Handler(object sender);
}
