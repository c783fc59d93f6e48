-- Gives back a claim that was not completed.
-- KEYS[1]  the record of the key
-- ARGV     fingerprint
-- Returns  nothing
local held = redis.call('HMGET', KEYS[1], 'fingerprint', 'status')
if held[1] == ARGV[1] and not held[2] then redis.call('DEL', KEYS[1]) end
