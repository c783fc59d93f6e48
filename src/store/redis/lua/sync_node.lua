#!lua
-- Records which version of the channels a node has in force, drops nodes that have not reported in time, and answers which
-- version is current. A node is stored as `<version>:<expires ms>:<serial>:<expires ms>`: releases before this one read the first two
-- numbers or the last one.
-- KEYS     version, nodes, mark of a store in use
-- ARGV     node, its version, serial of this report, serial of the last report known to be stored, time, ttl ms
-- Returns  {version, time ms, 'kept' or 'lost' or 'emptied'}
--!include _clock
-- The twin of store/version.ts: a version is a count and a random part.
local VERSION_STEP = 268435456
local now = clock(ARGV[5])
local noted = 0
local nodes = redis.call('HGETALL', KEYS[2])
for i = 1, #nodes, 2 do
  if nodes[i] == ARGV[1] then
    noted = tonumber(string.match(nodes[i + 1], '^%d+:%d+:(%d+):') or 0)
  elseif tonumber(string.match(nodes[i + 1], ':(%d+)$')) <= now then
    redis.call('HDEL', KEYS[2], nodes[i])
  end
end

local current = tonumber(redis.call('GET', KEYS[1]) or 0)
local version, serial = tonumber(ARGV[2]), tonumber(ARGV[3])
local memory = 'kept'
if redis.call('EXISTS', KEYS[3]) == 0 then
  memory = 'emptied'
elseif noted < tonumber(ARGV[4]) then
  memory = 'lost'
end

local known = version
local earlier = math.floor(version / VERSION_STEP) < math.floor(current / VERSION_STEP)
if memory ~= 'kept' or version < 0 or (version ~= current and not earlier) then known = 0 end
local expires = string.format('%.0f', now + tonumber(ARGV[6]))
redis.call('HSET', KEYS[2], ARGV[1],
  string.format('%.0f', known) .. ':' .. expires .. ':' .. string.format('%.0f', math.max(noted, serial)) .. ':' .. expires)

return { current, now, memory }
