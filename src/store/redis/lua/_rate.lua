-- The twin of takeRate in core/rate-limit.ts, operation by operation, so that both round alike. `last` has window, current
-- and previous, and is updated if the request is allowed. Returns allowed, remaining, reset in ms, retry after in ms.
local function take_rate(last, limit, now, window_ms)
  local window = math.floor(now / window_ms)
  if last.window == window + 1 then window = last.window end
  local elapsed = math.max(0, now - window * window_ms)
  local current = 0
  local previous = 0
  if last.window == window then
    current = last.current
    previous = last.previous
  elseif last.window == window - 1 then
    previous = last.current
  end
  local used = current + previous * (1 - elapsed / window_ms)
  local rest = window_ms - elapsed
  if used + 1 <= limit then
    last.window = window
    last.current = current + 1
    last.previous = previous
    return true, math.max(0, math.floor(limit - used - 1)), rest, 0
  end
  local wait
  if current + 1 <= limit then
    wait = window_ms * (1 - (limit - 1 - current) / previous) - elapsed
  else
    wait = rest + math.max(0, window_ms * (1 - (limit - 1) / current))
  end
  return false, 0, rest, math.max(1, math.ceil(wait))
end
