import { useState } from 'preact/hooks';
import { about, isAdmin } from '../../about.js';
import { call, type ReplyOf } from '../../api/call.js';
import { useRead, useWrite } from '../../api/query.js';
import { EXAMPLES } from '../../lib/examples.js';
import { sharedOf, sharing, type Shared } from '../../lib/share.js';
import { Button } from '../../parts/buttons.js';
import { Check, TextField } from '../../parts/fields.js';
import { ErrorNotice, FormError, fieldError } from '../../parts/notices.js';
import { Ago } from '../../parts/values.js';
import { Dialog } from '../../parts/dialog.js';
import { Form } from '../../parts/form.js';
import { toast } from '../../parts/toast.js';
import { w, wp } from '../../words.js';

type Example = ReplyOf<'listExamples'>[number];

/** Inputs to begin with: those that ship, one’s own, and those that others share. */
export function Examples({
  now,
  onOpen,
  onClose,
}: {
  /** What the page shows, to be kept. */
  readonly now: Shared;
  readonly onOpen: (shared: Shared) => void;
  readonly onClose: () => void;
}) {
  const words = wp().examples;
  const keeps = about.get()?.playground.examples === true;
  return (
    <Dialog title={words.title} onClose={onClose}>
      <h3>{words.shipped}</h3>
      <ul class="stack tight">
        {EXAMPLES.map(({ id, query, documents }) => (
          <li key={id}>
            <Button
              kind="quiet"
              onClick={() => onOpen(sharing(query, documents.join('\n'), now.lanes))}
            >
              {words.names[id]}
            </Button>
          </li>
        ))}
      </ul>
      <Kept onOpen={onOpen} />
      {keeps ? <Keep now={now} /> : <p class="muted">{words.off}</p>}
    </Dialog>
  );
}

function Kept({ onOpen }: { readonly onOpen: (shared: Shared) => void }) {
  const { data, error, again } = useRead('listExamples');
  const words = wp().examples;
  const open = useWrite(async (id: number) => {
    const { content } = await call('getExample', { params: { id } });
    return sharedOf(content);
  });
  const remove = useWrite((id: number) => call('deleteExample', { params: { id } }));
  if (data === undefined || data.length === 0) return <ErrorNotice error={error} onAgain={again} />;
  const mayRemove = ({ own }: Example): boolean => own || isAdmin();
  return (
    <>
      <h3>{words.kept}</h3>
      <ul class="stack tight">
        {data.map((example) => (
          <li class="row tight" key={example.id}>
            <Button
              kind="quiet"
              disabled={open.busy}
              onClick={() =>
                void open.run(example.id).then((shared) => {
                  if (shared === undefined) toast(words.unreadable);
                  else onOpen(shared);
                })
              }
            >
              {example.name}
            </Button>
            <span class="grow small muted">
              {!example.own ? words.byOthers : example.shared ? words.isShared : ''}{' '}
              <Ago seconds={example.created_time} />
            </span>
            {mayRemove(example) ? (
              <Button
                kind="icon"
                label={words.remove(example.name)}
                disabled={remove.busy}
                onClick={() => void remove.run(example.id)}
              >
                ✕
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      <ErrorNotice error={open.error ?? remove.error} />
    </>
  );
}

function Keep({ now }: { readonly now: Shared }) {
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const words = wp().examples;
  const save = useWrite(
    (body: { name: string; shared: boolean }, key) =>
      call('saveExample', { body: { ...body, content: { ...now } }, key }),
    () => {
      setName('');
      toast(w().saved);
    },
  );
  return (
    <Form class="stack" onSubmit={() => void save.run({ name: name.trim(), shared })}>
      <h3>{words.keep}</h3>
      <TextField
        label={w().name}
        help={words.keepHelp}
        value={name}
        onInput={setName}
        error={fieldError(save.error, 'name')}
      />
      <Check label={words.share} checked={shared} onChange={setShared} />
      <FormError error={save.error} fields={['name']} />
      <div class="row end">
        <Button type="submit" disabled={save.busy || name.trim() === ''}>
          {w().save}
        </Button>
      </div>
    </Form>
  );
}
