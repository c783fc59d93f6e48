#!lua
-- Gives a token another key. The previous key may be used until a given time; an older one no longer works.
-- KEYS     the token
-- ARGV     hash of the new key, its hint, until when the old one works in ms or '' for not at all, the version after the change
-- Returns  {hash of the previous key, hash of the one before that or nil}; nil if the token does not exist
local before = redis.call('HMGET', KEYS[1], 'hash', 'oldhash')
if not before[1] then return false end
redis.call('HSET', KEYS[1], 'hash', ARGV[1], 'hint', ARGV[2], 'version', ARGV[4])
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], 'oldhash', 'olduntil')
else
  redis.call('HSET', KEYS[1], 'oldhash', before[1], 'olduntil', ARGV[3])
end
return before
