/** Inputs that come with the playground; models of one language, of several, of code and of long texts differ on them. */
export interface ShippedExample {
  readonly id: 'english' | 'chinese' | 'mixed' | 'code' | 'long';
  readonly query: string;
  readonly documents: readonly string[];
}

export const EXAMPLES: readonly ShippedExample[] = [
  {
    id: 'english',
    query: 'Can I get my money back if the parcel arrives damaged?',
    documents: [
      'Damaged on arrival: send us a photo within 14 days and we refund the full price.',
      'Parcels are handed to the carrier within two working days.',
      'Money can be added to your account by card or bank transfer.',
      'To return an article that you do not like, use the label in the box; you pay the postage.',
      'Our packaging is made of recycled cardboard and protects against damage.',
      'Refunds are paid out the way you paid, within five days after we agreed to them.',
    ],
  },
  {
    id: 'chinese',
    query: '如何降低向量检索的延迟？',
    documents: [
      '为向量建立 HNSW 索引，并调低 efSearch，可以明显缩短查询时间。',
      '重排序模型会对候选文档逐一打分，因此候选越多，耗时越长。',
      '向量的维度越高，存储成本越大。',
      '检索延迟主要来自磁盘读取，把索引放入内存即可改善。',
      '本公司的年会将于下月在上海举行。',
      '向量检索可以找到语义相近的文本，而不只是关键词相同的文本。',
    ],
  },
  {
    id: 'mixed',
    query: 'Wie stelle ich das Gerät auf Werkseinstellungen zurück?',
    documents: [
      'Hold the power button for ten seconds to restore the factory settings.',
      'Das Gerät arbeitet bei Temperaturen von 0 bis 35 Grad.',
      '长按电源键十秒，即可恢复出厂设置。',
      'Pour remplacer la batterie, adressez-vous à un atelier agréé.',
      'Mantenga pulsado el botón de encendido para apagar el aparato.',
      'Die Einstellungen für das WLAN finden Sie unter „Netzwerk“.',
    ],
  },
  {
    id: 'code',
    query: 'retry an HTTP request with exponential backoff',
    documents: [
      'for (let n = 0; n < 5; n++) { try { return await fetch(url); } catch { await sleep(2 ** n * 100); } }',
      'const reply = await fetch(url, { method: "POST", body: JSON.stringify(body) });',
      'def backoff(attempt): return min(60, 2 ** attempt)',
      'server.on("request", (request, response) => response.end("hello"));',
      'while True: time.sleep(5); poll(queue)',
      'export const exponential = (base: number, power: number): number => base ** power;',
    ],
  },
  {
    id: 'long',
    query: 'Who is liable if the software damages data of the customer?',
    documents: [
      'This agreement is made between the supplier and the customer. The supplier grants a right to use the software that is not exclusive and cannot be passed on. The customer may make one copy as a backup. Updates are delivered as long as maintenance is paid for. The supplier answers questions on working days from nine to five. Invoices are due within thirty days.',
      'Maintenance begins with delivery and runs for twelve months. It is renewed by itself unless one party ends it three months before. The price is adjusted once a year by the index of consumer prices. The supplier may have others carry out the work. Both parties keep what they learn of one another secret. Where the software loses or alters data of the customer, the supplier bears the cost of restoring them from a backup that the customer has made at least daily, up to the price of one year.',
      'The customer provides the machines, the network, and a person who knows both. Data protection is laid down in an annex. The supplier works on the premises of the customer only where both agree to it. Travel is paid for by the kilometre. Changes of this agreement are made in writing, this sentence included.',
      'Liability for damage to persons is not limited. The place of jurisdiction is the seat of the supplier. Should a clause be void, the others stay in force, and the void one is replaced by what comes closest to its purpose.',
    ],
  },
];
