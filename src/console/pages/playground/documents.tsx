import { useState } from 'preact/hooks';
import { formatOfPaste, textOfDocuments, type Table } from '../../../core/documents-in.js';
import { choicesOf } from '../../parts/choice.js';
import { Button } from '../../parts/buttons.js';
import { Segments, TextField } from '../../parts/fields.js';
import { dragging, moved } from '../../parts/drag.js';
import { SelectField } from '../../parts/form.js';
import { w, wp } from '../../words.js';
import { GRADES, MAX_DOCUMENTS, withLabel } from './inputs.js';
import type { Inputs } from './use-inputs.js';

interface Of {
  readonly of: Inputs;
}

/** The documents, as text or as cards. */
export function DocumentsEditor({ of }: Of) {
  const { text, documents } = of;
  const [view, setView] = useState<'text' | 'cards'>('text');
  const words = wp().playground;
  return (
    <div
      class="stack tight"
      onPaste={(event) => {
        const pasted = event.clipboardData?.getData('text/plain') ?? '';
        const format = formatOfPaste(pasted);
        // What looks like a file of a known kind is taken as one.
        if (format !== undefined && of.takeText(`pasted.${format}`, pasted)) event.preventDefault();
      }}
    >
      {view === 'text' ? (
        <TextField
          label={words.documents(documents.length)}
          help={words.documentsHelp}
          value={text}
          onInput={of.setText}
          rows={Math.min(12, Math.max(4, documents.length + 1))}
          error={documents.length > MAX_DOCUMENTS ? words.tooMany(MAX_DOCUMENTS) : undefined}
        />
      ) : (
        <Cards of={of} />
      )}
      <div class="row">
        <Segments
          label={words.views}
          value={view}
          choices={choicesOf(words.viewKinds)}
          onChange={setView}
        />
      </div>
    </div>
  );
}

const SHOWN_CARDS = 100;

function Cards({ of: { documents, labels, ids, setText, setLabels } }: Of) {
  const [most, setMost] = useState(SHOWN_CARDS);
  const words = wp().playground;
  const put = (next: readonly string[]): void => setText(textOfDocuments(next));
  const move = (from: number, to: number): void => put(moved(documents, from, to));
  return (
    <div class="stack tight">
      <p class="small muted">{words.cardsHelp}</p>
      <ol class="stack tight" aria-label={words.documents(documents.length)}>
        {documents.slice(0, most).map((text, at) => (
          <li
            key={`${at} ${text}`}
            class="row tight doc-card"
            style={{ flexWrap: 'nowrap' }}
            {...dragging('document', at, move)}
            onKeyDown={({ key }) => {
              if (/^[0-3]$/.test(key)) setLabels(withLabel(labels, text, key));
              else if (key === '-') setLabels(withLabel(labels, text, ''));
            }}
          >
            <span class="num muted">{at + 1}</span>
            {ids.has(text) ? <code class="small muted">{ids.get(text)}</code> : null}
            <span class="clip grow" title={text.slice(0, 1_000)}>
              {text}
            </span>
            <select
              class="input"
              style={{ width: '3.5rem' }}
              aria-label={words.labelOf(at + 1)}
              value={String(labels.get(text) ?? '')}
              onChange={(event) => setLabels(withLabel(labels, text, event.currentTarget.value))}
            >
              {GRADES.map((grade) => (
                <option key={grade} value={grade}>
                  {grade === '' ? '–' : grade}
                </option>
              ))}
            </select>
            <Button
              kind="icon"
              label={words.up(at + 1)}
              disabled={at === 0}
              onClick={() => move(at, at - 1)}
            >
              ↑
            </Button>
            <Button
              kind="icon"
              label={words.down(at + 1)}
              disabled={at === documents.length - 1}
              onClick={() => move(at, at + 1)}
            >
              ↓
            </Button>
            <Button
              kind="icon"
              label={words.removeDocument(at + 1)}
              onClick={() => put(documents.filter((_, index) => index !== at))}
            >
              ✕
            </Button>
          </li>
        ))}
      </ol>
      {documents.length > most ? (
        <Button kind="quiet" onClick={() => setMost(documents.length)}>
          {words.all(documents.length)}
        </Button>
      ) : null}
    </div>
  );
}

/** Picks what the columns of a table hold. */
export function Columns({
  table,
  onChange,
}: {
  readonly table: Table;
  readonly onChange: (table: Table) => void;
}) {
  const words = wp().playground;
  const choices = table.head.map((title, at) => ({ value: String(at), label: title }));
  const picked = (name: 'title' | 'id' | 'label', label: string) => (
    <SelectField
      label={label}
      value={String(table[name])}
      choices={[{ value: '-1', label: w().none }, ...choices]}
      onChange={(at) => onChange({ ...table, [name]: Number(at) })}
    />
  );
  return (
    <div class="row">
      <SelectField
        label={words.textColumn}
        value={String(table.text)}
        choices={choices}
        onChange={(text) => onChange({ ...table, text: Number(text) })}
      />
      {picked('title', words.titleColumn)}
      {picked('id', words.idColumn)}
      {picked('label', words.labelColumn)}
    </div>
  );
}
