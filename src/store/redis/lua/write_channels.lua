#!lua
-- Writes changes that were worked out from one version of the channels, if that version is still current.
-- KEYS     version, channels
-- ARGV     expected version, random part of the next one, pub/sub channel, then pairs: channel id, record or '' to delete it
-- Returns  the new version, or nil if another change was faster
--!include _version
local version = redis.call('GET', KEYS[1]) or '0'
if version ~= ARGV[1] then return false end
for i = 4, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[2], ARGV[i])
  else
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  end
end
return next_version(KEYS[1], ARGV[2], ARGV[3])
