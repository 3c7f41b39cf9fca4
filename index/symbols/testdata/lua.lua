local json = require("json")
local util = require 'app.util'
local M = {}
local MAX = 10
global_value = 1

function M.public(a, b)
  local function nested() end
  return a
end

function M:method(x)
  return self
end

local function helper(x)
  if x then return "function fake()" end
end

function global_fn()
end

M.assigned = function(x)
  return x
end

local arrow = function() end

return M
