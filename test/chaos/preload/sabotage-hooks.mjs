/** By name: where, what stands there, and what stands there instead. */
const SABOTAGES = {
  'dropped settlement': {
    file: '/dist/gateway/settlements.js',
    from: 'add(settlement, expiresAtMs) {',
    to: 'add(settlement, expiresAtMs) {\n if (Math.random() < 0.02) return Promise.resolve(settlement.cost);',
  },
  'double charge': {
    file: '/dist/gateway/rerank.js',
    from: 'cost: trace.quota,',
    to: 'cost: Math.random() < 0.02 ? trace.quota * 2 : trace.quota,',
  },
  'ignored switch': {
    file: '/dist/gateway/channels/route.js',
    from: /live: effectiveStatus\(channel, switches\)\.live/,
    to: 'live: true',
  },
  'wrong ranking': {
    file: '/dist/core/rerank.js',
    from: /export function normalizeRanking\(/,
    to: `export function normalizeRanking(...given) {
      const rows = rightRanking(...given);
      return Math.random() < 0.02 ? [...rows].reverse() : rows;
    }
    function rightRanking(`,
  },
  'lost answer': {
    file: '/dist/http/rerank-reply.js',
    from: /function sendRanking\(replies, res, [^)]*\) \{/,
    to: '$&\n if (Math.random() < 0.01) { res.destroy(); return; }',
  },
  'late answer': {
    file: '/dist/http/rerank-reply.js',
    from: /function sendRanking\(replies, res, [^)]*\) \{/,
    to: `$&
      if (Math.random() < 0.02 && res.isLate === undefined) {
        res.isLate = true;
        setTimeout(() => sendRanking(...arguments), 6_000);
        return;
      }`,
  },
};

let chosen;

export function initialize(name) {
  chosen = SABOTAGES[name];
  if (chosen === undefined) throw new Error(`no sabotage is called "${name}"`);
}

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.endsWith(chosen.file)) return loaded;
  const source = String(loaded.source);
  const changed = source.replace(chosen.from, chosen.to);
  if (changed === source) throw new Error(`there is nothing to sabotage in ${url}`);
  return { ...loaded, source: changed };
}
