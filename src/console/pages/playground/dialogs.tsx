import { useState } from 'preact/hooks';
import { significant } from '../../lib/format.js';
import type { bodyOf, LaneSpec } from '../../lib/lanes.js';
import { Button } from '../../parts/buttons.js';
import { Segments, TextField } from '../../parts/fields.js';
import { RequestCode } from '../../parts/code.js';
import { Dialog, type Closable } from '../../parts/dialog.js';
import { w, wp } from '../../words.js';
import { GRADES, withLabel, type Labels } from './inputs.js';
import type { RankedLane } from './use-runs.js';

export function LaneCode({
  lanes,
  names,
  bodyOf: bodyOfLane,
  onClose,
}: Closable & {
  readonly lanes: readonly LaneSpec[];
  readonly names: readonly string[];
  readonly bodyOf: (lane: LaneSpec) => ReturnType<typeof bodyOf>;
}) {
  const [at, setAt] = useState('0');
  const words = wp().playground;
  const lane = lanes[Number(at)];
  if (lane === undefined) return null;
  const asLogin = lane.channel !== undefined;
  return (
    <Dialog title={words.copyAs} kind="wide" onClose={onClose}>
      {lanes.length < 2 ? null : (
        <Segments
          label={words.lane}
          value={at}
          choices={names.map((label, index) => ({ value: String(index), label }))}
          onChange={setAt}
        />
      )}
      <p class="muted">{asLogin ? words.copyHelpChannel : words.copyHelp}</p>
      <RequestCode body={{ ...bodyOfLane(lane) }} asLogin={asLogin} />
    </Dialog>
  );
}

export function CopyLane({
  onCopy,
  onClose,
}: Closable & { readonly onCopy: (instruction: string) => void }) {
  const [instruction, setInstruction] = useState('');
  const words = wp().playground;
  return (
    <Dialog
      title={words.copyLane}
      onClose={onClose}
      onSubmit={() => onCopy(instruction.trim())}
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="main" type="submit">
            {words.add}
          </Button>
        </>
      }
    >
      <TextField
        label={words.instructionOwn}
        help={words.instructionHelp}
        value={instruction}
        onInput={setInstruction}
        autofocus
      />
    </Dialog>
  );
}

/** One document in full: its label, and its rank and score in every lane. */
export function OneDocument({
  index,
  text,
  lanes,
  id,
  labels,
  onLabels,
  onClose,
}: Closable & {
  readonly index: number;
  readonly id: string | undefined;
  readonly text: string;
  readonly lanes: readonly RankedLane[];
  readonly labels: Labels;
  readonly onLabels: (labels: Labels) => void;
}) {
  const words = wp().playground;
  return (
    <Dialog title={words.document(index + 1)} kind="drawer" onClose={onClose}>
      {id === undefined ? null : <code class="small muted">{id}</code>}
      <p class="wrap" style={{ whiteSpace: 'pre-wrap' }}>
        {text}
      </p>
      <div class="stack tight">
        <Segments
          label={words.relevance}
          value={GRADES.find((one) => one !== '' && Number(one) === labels.get(text)) ?? ''}
          choices={GRADES.map((value) => ({ value, label: value === '' ? '–' : value }))}
          onChange={(grade) => onLabels(withLabel(labels, text, grade))}
        />
        <p class="small muted">{words.relevanceHelp}</p>
      </div>
      <dl class="facts">
        {lanes.map(({ key, name, reply }) => {
          const rank = reply.results.findIndex((row) => row.index === index);
          const score = reply.results[rank]?.relevance_score;
          return [
            <dt key={key}>{name}</dt>,
            <dd key={`${key} rank`}>
              {score === undefined ? words.notRanked : words.rankIn(rank + 1, significant(score))}
            </dd>,
          ];
        })}
      </dl>
    </Dialog>
  );
}
