import { EMBEDDING_STUBS } from './catalogue/embeddings.js';
import { AWS_STUBS } from './catalogue/aws.js';
import { CHAT_STUBS } from './catalogue/chat.js';
import { COHERE_STUBS } from './catalogue/cohere.js';
import { GOOGLE_STUBS } from './catalogue/google.js';
import { IBM_STUBS } from './catalogue/ibm.js';
import { LIST_STUBS } from './catalogue/lists.js';
import { NVIDIA_STUBS } from './catalogue/nvidia.js';
import { ORACLE_STUBS } from './catalogue/oracle.js';
import { RELAY_STUBS } from './catalogue/relays.js';
import { SELF_HOSTED_STUBS } from './catalogue/self-hosted.js';
import { TENCENT_STUBS } from './catalogue/tencent.js';
import { VOLCENGINE_STUBS } from './catalogue/volcengine.js';
import { derivedStub } from './derived.js';
import type { Stub } from './stub.js';

/** Stubs with rules of their own, which come from the provider's documents. */
const OWN: ReadonlyMap<string, Stub> = new Map(
  Object.entries({
    ...AWS_STUBS,
    ...CHAT_STUBS,
    ...COHERE_STUBS,
    ...EMBEDDING_STUBS,
    ...GOOGLE_STUBS,
    ...IBM_STUBS,
    ...LIST_STUBS,
    ...NVIDIA_STUBS,
    ...ORACLE_STUBS,
    ...RELAY_STUBS,
    ...SELF_HOSTED_STUBS,
    ...TENCENT_STUBS,
    ...VOLCENGINE_STUBS,
  }),
);

const derived = new Map<string, Stub | undefined>();

/** The stub of a provider: its own, or one made of its fixture; `undefined` where there is neither. */
export function findStub(id: string): Stub | undefined {
  const own = OWN.get(id);
  if (own !== undefined) return own;
  if (!derived.has(id)) derived.set(id, derivedStub(id));
  return derived.get(id);
}

export function ownStubIds(): string[] {
  return [...OWN.keys()];
}
