/** By name: where, what stands there, and what stands there instead. */
const SABOTAGES = {
  'dropped settlement': {
    file: 'src/gateway/settlements.ts',
    from: 'add(settlement, expiresAtMs) {',
    to: 'add(settlement, expiresAtMs) {\n if (Math.random() < 0.02) return Promise.resolve(settlement.cost);',
  },
  'double charge': {
    file: 'src/gateway/rerank.ts',
    from: 'cost: trace.quota,',
    to: 'cost: Math.random() < 0.02 ? trace.quota * 2 : trace.quota,',
  },
  'ignored switch': {
    file: 'src/gateway/channels/route.ts',
    from: /live: effectiveStatus\(\w+, switches\)\.live/,
    to: 'live: true',
  },
  'wrong ranking': {
    file: 'src/core/rerank.ts',
    from: /function normalizeRanking\(/,
    to: `function normalizeRanking(...given) {
      const rows = rightRanking(...given);
      return Math.random() < 0.02 ? [...rows].reverse() : rows;
    }
    function rightRanking(`,
  },
  'lost answer': {
    file: 'src/http/rerank-reply.ts',
    from: /function sendRanking\(replies, res, [^)]*\) \{/,
    to: '$&\n if (Math.random() < 0.01) { res.destroy(); return; }',
  },
  'late answer': {
    file: 'src/http/rerank-reply.ts',
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
  if (!/\/dist\/[^/]*\.js$/.test(url)) return loaded;
  // A bundle names each source before its code, and may do so again within it.
  const parts = String(loaded.source).split(/^(?=\/\/ src\/)/m);
  const own = parts.filter((part) => part.startsWith(`// ${chosen.file}\n`));
  if (own.length === 0) return loaded;
  const part = own.find((text) => text.replace(chosen.from, chosen.to) !== text);
  if (part === undefined) throw new Error(`there is nothing to sabotage in ${chosen.file}`);
  const changed = parts.map((text) =>
    text === part ? text.replace(chosen.from, chosen.to) : text,
  );
  return { ...loaded, source: changed.join('') };
}
