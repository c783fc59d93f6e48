import { significant } from '../../lib/format.js';
import { HEAD_HEIGHT, LANE_WIDTH, pictureOf, ROW_HEIGHT } from '../../lib/picture.js';
import type { RankedLane } from './use-runs.js';

const SCALE = 2;
const SCORE_WIDTH = 72;

/** The lanes with their bars and lines, drawn in the colours of the page. */
export async function drawLanes(lanes: readonly RankedLane[], most: number): Promise<Blob> {
  const picture = pictureOf(
    lanes.map(({ name, reply }) => ({ name, rows: reply.results })),
    most,
  );
  const documents = lanes[0]?.documents ?? [];
  const canvas = document.createElement('canvas');
  canvas.width = picture.width * SCALE;
  canvas.height = picture.height * SCALE;
  const pen = canvas.getContext('2d');
  if (pen === null) throw new Error('this browser draws no pictures');
  pen.scale(SCALE, SCALE);
  const colour = coloursOf();
  pen.fillStyle = colour('--bg');
  pen.fillRect(0, 0, picture.width, picture.height);
  const { fontFamily } = getComputedStyle(document.body);
  const write = (text: string, x: number, y: number, width: number): void =>
    pen.fillText(fitting(pen, text, width), x, y);
  for (const { x, name } of picture.heads) {
    pen.font = `600 16px ${fontFamily}`;
    pen.fillStyle = colour('--text');
    write(name, x, HEAD_HEIGHT / 2, LANE_WIDTH);
  }
  for (const { from, to, kind } of picture.lines) {
    pen.strokeStyle = colour(kind === 'same' ? '--muted' : kind === 'up' ? '--ok' : '--bad');
    pen.setLineDash(kind === 'down' ? [5, 4] : []);
    pen.lineWidth = kind === 'same' ? 1 : 1.5;
    pen.beginPath();
    pen.moveTo(...from);
    const middle = (from[0] + to[0]) / 2;
    pen.bezierCurveTo(middle, from[1], middle, to[1], ...to);
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.font = `13px ${fontFamily}`;
  for (const { x, y, rank, index, score, bar } of picture.rows) {
    const width = LANE_WIDTH - SCORE_WIDTH - 28;
    pen.fillStyle = colour('--muted');
    write(String(rank), x, y + 18, 24);
    pen.fillStyle = colour('--text');
    write(documents[index] ?? '', x + 28, y + 18, width);
    write(significant(score), x + LANE_WIDTH - SCORE_WIDTH + 8, y + 18, SCORE_WIDTH - 8);
    pen.fillStyle = colour('--accent');
    pen.fillRect(x + 28 + width * bar.from, y + ROW_HEIGHT - 14, width * bar.width, 4);
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error('the picture is too large'));
      else resolve(blob);
    }, 'image/png');
  });
}

/** The colours of the theme in force: a probe resolves `light-dark()`, which a canvas does not. */
function coloursOf(): (token: string) => string {
  const known = new Map<string, string>();
  return (token) => {
    const found = known.get(token);
    if (found !== undefined) return found;
    const probe = document.body.appendChild(document.createElement('span'));
    probe.style.color = `var(${token})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    known.set(token, color);
    return color;
  };
}

function fitting(pen: CanvasRenderingContext2D, text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, ' ').slice(0, 200);
  if (pen.measureText(line).width <= width) return line;
  let end = line.length;
  while (end > 0 && pen.measureText(`${line.slice(0, end)}…`).width > width) end -= 1;
  return `${line.slice(0, end)}…`;
}
