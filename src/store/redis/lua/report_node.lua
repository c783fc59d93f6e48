-- Notes which version of the channels a node has in force, and forgets nodes that have not reported in time.
-- KEYS[1]  the channels; touches `:nodes` below it
-- ARGV     node, version, now ms, expires at ms
-- Returns  nothing
local key = KEYS[1] .. ':nodes'
local nodes = redis.call('HGETALL', key)
for i = 1, #nodes, 2 do
  if tonumber(string.match(nodes[i + 1], ':(%d+)$')) <= tonumber(ARGV[3]) then redis.call('HDEL', key, nodes[i]) end
end
redis.call('HSET', key, ARGV[1], ARGV[2] .. ':' .. ARGV[4])
