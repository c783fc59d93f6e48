#!lua
-- Adds to roll-ups. A row is `<sums separated by spaces>|<bound>:<times>,...`, as in core/tally.ts.
-- KEYS     serial of the writer's last batch, when roll-ups began, then the buckets and lists of owners named below
-- ARGV     serial, time ms, rows that a bucket may have; then for each addition: number of the key of its bucket, number of
--          the key of the list of owners of its bucket or 0, owner, expires ms, row, row to use if there is no room, tally
-- Returns  1, or 0 if the batch was added already
local WRITER_TTL_MS = 86400000
if tonumber(redis.call('GET', KEYS[1]) or 0) >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', WRITER_TTL_MS)
redis.call('SETNX', KEYS[2], ARGV[2])
local max = tonumber(ARGV[3])

local function sum(one, other)
  local result, bounds, order = {}, {}, {}
  local sums, more = string.match(one, '^([^|]*)|(.*)$'), string.match(other, '^([^|]*)|(.*)$')
  local rest = {}
  for number in string.gmatch(more, '%S+') do rest[#rest + 1] = tonumber(number) end
  for number in string.gmatch(sums, '%S+') do result[#result + 1] = tonumber(number) end
  -- Another release may write more sums than this row had, or fewer.
  for at = 1, math.max(#result, #rest) do
    result[at] = string.format('%.0f', (result[at] or 0) + (rest[at] or 0))
  end
  for _, text in ipairs({ one, other }) do
    for bound, times in string.gmatch(string.match(text, '|(.*)$'), '(%d+):(%d+)') do
      local number = tonumber(bound)
      if not bounds[number] then order[#order + 1] = number end
      bounds[number] = (bounds[number] or 0) + tonumber(times)
    end
  end
  table.sort(order)
  local pairs_of = {}
  for i, bound in ipairs(order) do pairs_of[i] = bound .. ':' .. string.format('%.0f', bounds[bound]) end
  return table.concat(result, ' ') .. '|' .. table.concat(pairs_of, ',')
end

for i = 4, #ARGV, 7 do
  local bucket, owners, row = KEYS[tonumber(ARGV[i])], tonumber(ARGV[i + 1]), ARGV[i + 4]
  local before = redis.call('HGET', bucket, row)
  if not before and redis.call('HLEN', bucket) >= max then
    row = ARGV[i + 5]
    before = redis.call('HGET', bucket, row)
  end
  redis.call('HSET', bucket, row, before and sum(before, ARGV[i + 6]) or ARGV[i + 6])
  redis.call('PEXPIREAT', bucket, ARGV[i + 3])
  if owners > 0 then
    redis.call('SADD', KEYS[owners], ARGV[i + 2])
    redis.call('PEXPIREAT', KEYS[owners], ARGV[i + 3])
  end
end
return 1
