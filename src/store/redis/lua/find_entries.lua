#!lua flags=no-writes
-- Looks at the entries of a log in a span of time, newest first, and picks those that may meet a filter.
-- KEYS     times (of all users or of one), entries
-- ARGV     newest time, oldest time, how many to pass over, to look at and to pick at most; then conditions: 'has', text, '';
--          'lacks', text, text of records that are picked all the same; 'least', text before numbers, least value of one
-- Returns  {how many were looked at, 1 if there may be more, time of the last one or '', {numbers of those of that time that were
--          looked at}, {number, entry, ...} as picked}
local look, most = tonumber(ARGV[4]), tonumber(ARGV[5])
local numbers = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYSCORE', 'REV', 'LIMIT', ARGV[3], look)
if #numbers == 0 then return { 0, 0, '', {}, {} } end

local function contains(entry, text) return string.find(entry, text, 1, true) end

local TESTS = {
  has = contains,
  lacks = function(entry, text, but) return not contains(entry, text) or contains(entry, but) end,
  least = function(entry, before, least)
    local _, at = string.find(entry, before, 1, true)
    while at do
      -- What is no number may match, too: whoever parses the entry decides.
      if (tonumber(string.match(entry, '^[%d.e+-]+', at + 1)) or least) >= least then return true end
      _, at = string.find(entry, before, at, true)
    end
  end,
}
local tests = {}
for i = 6, #ARGV, 3 do
  local kind, one, other = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if kind == 'least' then other = tonumber(other) end
  tests[#tests + 1] = { TESTS[kind], one, other }
end

local function may_match(entry)
  for _, test in ipairs(tests) do
    if not test[1](entry, test[2], test[3]) then return false end
  end
  return true
end

local picked, last = {}, 0
for i, entry in ipairs(redis.call('HMGET', KEYS[2], unpack(numbers))) do
  last = i
  if entry and may_match(entry) then
    picked[#picked + 1] = numbers[i]
    picked[#picked + 1] = entry
    if #picked == 2 * most then break end
  end
end

local time = redis.call('ZSCORE', KEYS[1], numbers[last])
local at_once = {}
for i = last, 1, -1 do
  if redis.call('ZSCORE', KEYS[1], numbers[i]) ~= time then break end
  at_once[#at_once + 1] = numbers[i]
end
return { last, (last < #numbers or #numbers == look) and 1 or 0, time, at_once, picked }
