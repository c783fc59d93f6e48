-- The twin of store/version.ts: a version is a count and a random part, which the writer makes.
local VERSION_STEP = 268435456

-- Gives the channels their next version and announces it. Returns it.
local function next_version(key, mark, channel)
  local count = math.floor(tonumber(redis.call('GET', key) or 0) / VERSION_STEP) + 1
  local version = string.format('%.0f', count * VERSION_STEP + tonumber(mark))
  redis.call('SET', key, version)
  redis.call('PUBLISH', channel, version)
  return tonumber(version)
end
