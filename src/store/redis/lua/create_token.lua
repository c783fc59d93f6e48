-- Writes a new token, if its user is there.
-- KEYS[1]  the user; writes `:t:<token>` and `:ts` below it
-- ARGV     token id, then fields and values of the token
-- Returns  1, or 0 when there is no such user
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1] .. ':t:' .. ARGV[1], unpack(ARGV, 2))
redis.call('ZADD', KEYS[1] .. ':ts', ARGV[1], ARGV[1])
return 1
