import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FOLDER, fontsOf, startPictures, takePictures } from './pictures.mjs';

/** A number or a button that is another one moves less; a style that is missing, or a block in another place, moves more. */
const MOST_DIFFERENT = 0.05;
/** A chart looks another way at another time of the day. */
const MOST_DIFFERENT_CHART = 0.1;
const WITH_CHART = /^(overview|requests|spend)-/;

let console_;

before(async () => {
  console_ = await startPictures();
});

after(() => console_?.stop());

/** The share of pixels in which two pictures differ visibly, or a sentence where their sizes do. */
function differenceIn(page, pictures) {
  return page.evaluate(async (encoded) => {
    const VISIBLE = 48;
    const [one, other] = await Promise.all(
      encoded.map(async (data) => {
        const reply = await fetch(`data:image/png;base64,${data}`);
        const bitmap = await globalThis.createImageBitmap(await reply.blob());
        const canvas = new globalThis.OffscreenCanvas(bitmap.width, bitmap.height);
        const brush = canvas.getContext('2d');
        brush.drawImage(bitmap, 0, 0);
        return brush.getImageData(0, 0, bitmap.width, bitmap.height);
      }),
    );
    if (one.width !== other.width || one.height !== other.height) {
      return `${one.width} × ${one.height} became ${other.width} × ${other.height}`;
    }
    let different = 0;
    for (let at = 0; at < one.data.length; at += 4) {
      const moved = [0, 1, 2].map((part) => Math.abs(one.data[at + part] - other.data[at + part]));
      if (Math.max(...moved) > VISIBLE) different += 1;
    }
    return different / (one.data.length / 4);
  }, pictures);
}

test('the pages look as they did', async (context) => {
  const fonts = JSON.parse(readFileSync(join(FOLDER, 'fonts.json'), 'utf8'));
  if (JSON.stringify(await fontsOf(console_)) !== JSON.stringify(fonts)) {
    context.skip('the letters of this machine are others than those of the pictures');
    return;
  }
  const taken = await takePictures(console_);
  const blank = await console_.open('login', { login: false, bypassCSP: true });
  const changed = [];
  for (const [name, picture] of taken) {
    const kept = readFileSync(join(FOLDER, `${name}.png`));
    const both = [kept, picture].map((png) => png.toString('base64'));
    const difference = await differenceIn(blank.page, both);
    const most = WITH_CHART.test(name) ? MOST_DIFFERENT_CHART : MOST_DIFFERENT;
    if (typeof difference === 'string' || difference > most) {
      changed.push(`${name}: ${difference}`);
    }
  }
  await blank.context.close();
  assert.deepEqual(changed, [], 'look at them, and run: npm run console:pictures');
});
