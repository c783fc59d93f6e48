/**
 * Realistic request bodies. Each depends only on its name and the number of documents, so that every run and every process
 * makes the same bytes.
 */

/** Length of a document in characters, by number of documents. */
const CHARACTERS: Readonly<Record<number, number>> = { 10: 200, 100: 510, 1000: 1000, 5000: 6000 };
const OTHERWISE = 500;

const ENGLISH = [
  'Keys are rotated every ninety days, and whoever holds the "owner" role may do it earlier.',
  'The old key stays valid for an hour: long enough for caches to learn of the new one.',
  "It's the cluster that signs, not the node; a node that was away asks for the new key first.",
  'If the vault says "sealed", nothing is signed until an operator has opened it again.',
];
const CHINESE = [
  '签名密钥每九十天轮换一次，持有“所有者”角色的人可以提前轮换。',
  '旧密钥在一小时内仍然有效，足够缓存得知新的密钥。',
  '签名的是集群，而不是节点；离开过的节点会先请求新的密钥。',
  '如果保险库显示“已密封”，在操作员重新打开之前不会签署任何内容。',
];
const CYRILLIC = [
  'Ключи подписи меняются каждые девяносто дней, а владелец может сменить их раньше.',
  'Старый ключ действует ещё час: этого хватает, чтобы кэши узнали о новом.',
  'Подписывает кластер, а не узел; узел, который отсутствовал, сначала просит новый ключ.',
  'Если хранилище сообщает «запечатано», ничего не подписывается, пока его не откроют.',
];
const EMOJI = [
  'Rotated the keys today 🔑🔄 all nodes green ✅✅ thanks to everyone on call 🙏🏽',
  'Cache was stale for a minute 🐢 then it caught up 🚀🚀 no alerts 🎉',
  'Who has the owner role this week 🤔 asking for a friend 😅👩🏻‍💻',
  'Vault sealed again 🔒😱 opened it by hand 🔓💪 writing it up 📝',
];

const TITLES = ['Red shoes', 'USB-C cable, 2 m', 'Lamp "Oslo"', 'Kyoto', 'Café table', 'Tea'];

export const BODIES = {
  prose: { title: 'prose with line breaks and quotes', sentences: ENGLISH },
  chinese: { title: 'Chinese as UTF-8', sentences: CHINESE },
  'chinese-escaped': { title: 'Chinese as \\u escapes', sentences: CHINESE, escaped: true },
  cyrillic: { title: 'Cyrillic as UTF-8', sentences: CYRILLIC },
  'cyrillic-escaped': { title: 'Cyrillic as \\u escapes', sentences: CYRILLIC, escaped: true },
  'emoji-escaped': { title: 'emoji as escaped pairs', sentences: EMOJI, escaped: true },
  objects: { title: 'objects with text', sentences: ENGLISH, objects: true },
  returned: {
    title: 'objects with text, documents returned',
    sentences: ENGLISH,
    objects: true,
    returned: true,
  },
  lone: { title: 'prose with half a character', sentences: [...ENGLISH, 'Half: \ud83d.'] },
  short: { title: 'short titles', sentences: TITLES, separator: ' ', characters: 24 },
  plain: { title: 'prose without any escape', sentences: [ENGLISH[1] ?? ''], separator: ' ' },
} as const satisfies Readonly<Record<string, Body>>;

export type BodyName = keyof typeof BODIES;

interface Body {
  readonly title: string;
  readonly sentences: readonly string[];
  /** Between sentences; a line break by default. */
  readonly separator?: string;
  /** The length of a document, whatever their number. */
  readonly characters?: number;
  /** Whether everything beyond ASCII is written as `\uXXXX`, as Python's `json.dumps` does. */
  readonly escaped?: boolean;
  /** Whether documents are objects with `text` and an id. */
  readonly objects?: boolean;
  /** Whether the reply returns the documents. */
  readonly returned?: boolean;
}

/** The texts of a body's documents. */
export function textsOf(name: BodyName, documents: number): readonly string[] {
  const { sentences, separator = '\n', characters }: Body = BODIES[name];
  const length = characters ?? CHARACTERS[documents] ?? OTHERWISE;
  return Array.from({ length: documents }, (_, index) => {
    let text = `${index}. `;
    for (let at = index; text.length < length; at += 1) {
      text += (sentences[at % sentences.length] ?? '') + separator;
    }
    // Cut between characters: half an emoji is not valid text, except in the body that is about just that.
    const cut = text.slice(0, length);
    return name === 'lone' ? cut : cut.toWellFormed().replace(/\ufffd$/, '.');
  });
}

/** The documents as they appear in the request. */
export function documentsOf(name: BodyName, documents: number): readonly unknown[] {
  const { objects = false }: Body = BODIES[name];
  const texts = textsOf(name, documents);
  return objects ? texts.map((text, index) => ({ id: `passage-${index}`, text })) : texts;
}

export function isReturned(name: BodyName): boolean {
  const { returned = false }: Body = BODIES[name];
  return returned;
}

/** A form that the gateway's callers use: where it is sent, and its body. */
export const FORMS = {
  main: {
    path: '/v1/rerank',
    body: (model: string, asked: object): object => ({ model, ...asked }),
  },
  dashscope: {
    path: '/api/v1/services/rerank/text-rerank/text-rerank',
    body: (model: string, input: object): object => ({ model, input, parameters: {} }),
  },
} as const;

export type FormName = keyof typeof FORMS;

/** A request's JSON for the model `model`. */
export function requestJson(
  name: BodyName,
  documents: number,
  model: string,
  form: FormName = 'main',
): Buffer {
  const { escaped = false }: Body = BODIES[name];
  const asked = {
    query: 'how do I rotate the signing keys of a cluster',
    ...(isReturned(name) ? { return_documents: true } : {}),
    documents: documentsOf(name, documents),
  };
  const json = JSON.stringify(FORMS[form].body(model, asked));
  return Buffer.from(escaped ? escapedJson(json) : json);
}

/** JSON with everything beyond ASCII as `\uXXXX`. */
export function escapedJson(json: string): string {
  return json.replace(/[^\0-\x7f]/g, escapeOf);
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
