import { once } from 'node:events';
import { createServer } from 'node:http';

/** A server that speaks as Text Embeddings Inference does, and says so. */
export async function startTei() {
  const server = createServer((req, res) => {
    const reply = (status, body) => {
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (req.url === '/info') {
      reply(200, {
        ...{ model_id: 'bge-reranker-v2-m3', model_dtype: 'float16', version: '1.9.3' },
        model_type: { reranker: { id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } } },
        ...{ max_client_batch_size: 32, max_input_length: 512, max_batch_tokens: 16_384 },
      });
      return;
    }
    if (req.url !== '/rerank' || req.method !== 'POST') {
      reply(404, { error: 'not found' });
      return;
    }
    let text = '';
    req.on('data', (chunk) => (text += chunk));
    req.on('end', () => {
      const { texts } = JSON.parse(text);
      if (!Array.isArray(texts)) {
        reply(422, { error: 'texts is missing' });
        return;
      }
      const rows = texts.map((one, index) => ({ index, score: /Paris/.test(one) ? 0.9 : 0.1 }));
      reply(
        200,
        rows.sort((one, other) => other.score - one.score),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
