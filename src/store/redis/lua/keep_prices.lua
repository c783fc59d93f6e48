#!lua
-- Keeps a list of prices unless it is the last one that was kept.
-- KEYS[1]  `<time> <prices>`, in the order in which they were kept
-- ARGV     time, prices, how many are kept at most
-- Returns  1 if it was kept, else 0
local last = redis.call('LINDEX', KEYS[1], -1)
if last and string.sub(last, string.find(last, ' ', 1, true) + 1) == ARGV[2] then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1] .. ' ' .. ARGV[2])
redis.call('LTRIM', KEYS[1], -tonumber(ARGV[3]), -1)
return 1
