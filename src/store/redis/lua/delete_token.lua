-- Deletes a token. Its reservations stay, and are settled on the user.
-- KEYS[1]  the user; deletes `:t:<token>` and its place in `:ts`
-- ARGV     token id
-- Returns  the hash of its key, or nil when it is not there
local key = KEYS[1] .. ':t:' .. ARGV[1]
local hash = redis.call('HGET', key, 'hash')
redis.call('DEL', key)
redis.call('ZREM', KEYS[1] .. ':ts', ARGV[1])
return hash
