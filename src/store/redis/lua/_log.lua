local LOG_ENTRIES = 64
local MOST_NAMES = 250

-- Notes what a change has touched, as `<version before> <version after> <names>`: `c<id>` for channels, `t<tag>` for the switch
-- of a tag, `*` for too much to name. Releases that note nothing leave a gap between two entries, which readers see.
local function note_change(key, before, after, names)
  if #names > MOST_NAMES then names = { '*' } end
  redis.call('RPUSH', key, before .. ' ' .. string.format('%.0f', after) .. ' ' .. table.concat(names, ' '))
  redis.call('LTRIM', key, -LOG_ENTRIES, -1)
end
