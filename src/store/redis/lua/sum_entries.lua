#!lua flags=no-writes
-- Adds up the entries of a log in a span of time that meet all conditions, newest first, in steps that end between two times: what
-- is written meanwhile is not counted twice.
-- KEYS     times (of all users or of one), entries
-- ARGV     newest time, oldest time, how many to look at, how many members are added up, their names; then conditions as
--          `find_entries` has them, but met exactly: by the members of an entry, without its detail
-- Returns  {newest time of the next step or '', how many entries, the sum of each member...}
local look, members = tonumber(ARGV[3]), tonumber(ARGV[4])
local numbers = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYSCORE', 'REV', 'LIMIT', 0, look)
local following = ''
if #numbers == look then
  following = redis.call('ZSCORE', KEYS[1], numbers[look])
  if redis.call('ZSCORE', KEYS[1], numbers[1]) == following then
    numbers = redis.call('ZRANGE', KEYS[1], following, following, 'BYSCORE')
    following = '(' .. following
  else
    while redis.call('ZSCORE', KEYS[1], numbers[#numbers]) == following do numbers[#numbers] = nil end
  end
end

local TESTS = {
  has = function(entry, text)
    local _, at = string.find(entry, text, 1, true)
    return at and string.find(entry, '^[,}]', at + 1)
  end,
  lacks = function(entry, text) return not string.find(entry, text, 1, true) end,
  least = function(entry, before, least)
    local _, at = string.find(entry, before, 1, true)
    return at and tonumber(string.match(entry, '^[%d.e+-]+', at + 1) or 0) >= tonumber(least)
  end,
}
local names, sums, count, conditional = {}, {}, 0, #ARGV > 4 + members
for i = 1, members do
  names[i], sums[i] = '"' .. ARGV[4 + i] .. '":', 0
end

local function add(entry)
  if conditional then
    local detail = string.find(entry, ',"detail":', 1, true)
    if detail then entry = string.sub(entry, 1, detail - 1) .. '}' end
    for i = 5 + members, #ARGV, 3 do
      if not TESTS[ARGV[i]](entry, ARGV[i + 1], ARGV[i + 2]) then return end
    end
  end
  count = count + 1
  local from = 1
  for i = 1, members do
    -- A plain search is much quicker than one for a pattern, and members are usually in this order; the detail comes last.
    local _, at = string.find(entry, names[i], from, true)
    if not at then _, at = string.find(entry, names[i], 1, true) end
    if at then
      sums[i] = sums[i] + tonumber(string.match(entry, '^%d+', at + 1) or 0)
      from = at
    end
  end
end

for first = 1, #numbers, look do
  local last = math.min(first + look - 1, #numbers)
  for _, entry in ipairs(redis.call('HMGET', KEYS[2], unpack(numbers, first, last))) do
    if entry then add(entry) end
  end
end
for i = 1, members do sums[i] = string.format('%.0f', sums[i]) end
return { following, count, unpack(sums) }
