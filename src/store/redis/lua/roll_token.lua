#!lua
-- Gives a token another key. The one before may be used until a time; an older one may not be any more.
-- KEYS     the token
-- ARGV     hash of the new key, its hint, until when the old one works in ms or '' for not at all, the version after it
-- Returns  {hash of the key before, hash of the one before that or nil}; nil when the token is not there
local before = redis.call('HMGET', KEYS[1], 'hash', 'oldhash')
if not before[1] then return false end
redis.call('HSET', KEYS[1], 'hash', ARGV[1], 'hint', ARGV[2], 'version', ARGV[4])
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], 'oldhash', 'olduntil')
else
  redis.call('HSET', KEYS[1], 'oldhash', before[1], 'olduntil', ARGV[3])
end
return before
