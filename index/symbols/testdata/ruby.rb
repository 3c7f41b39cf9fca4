require 'json'
require_relative "../lib/helper"
load "tasks.rb"

MAX = 10
$global = 1

def top_level(a, b = {})
  def nested; end
  a
end

module Outer
  VERSION = "1.0"

  module_function

  def helper
    yield
  end

  class Client < Base::Parent
    attr_reader :name, :age
    include Comparable

    def initialize(name)
      @name = name
    end

    def self.create(*args)
      new(*args)
    end

    class << self
      def build; end
    end

    def valid? = true

    private

    def <=>(other)
      text = <<~EOS
        def fake
        end
      EOS
    end
  end
end

class Outer::Other
  def x; end
end

Point = Struct.new(:x, :y) do
  def dist; end
end
