import { useState } from 'preact/hooks';
import { isAdmin } from '../../about.js';
import { call, type ReplyOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { Button, Link } from '../../parts/buttons.js';
import type { Closable } from '../../parts/dialog.js';
import { ConfirmWrite } from '../../parts/confirm-write.js';
import { ErrorNotice } from '../../parts/notices.js';
import { Table } from '../../parts/table.js';
import { toast } from '../../parts/toast.js';
import { Count, Money } from '../../parts/values.js';
import { createdOf } from '../../parts/shown.js';
import { w, wp } from '../../words.js';

type Batch = ReplyOf<'listRedemptionBatches'>[number];

/** Batches of codes made under one name, and what is left of each. */
export function Batches() {
  const { data, error, again } = useRead('listRedemptionBatches');
  const [disabling, setDisabling] = useState<Batch>();
  const words = wp().codes;
  if (data === undefined || data.length === 0) return <ErrorNotice error={error} onAgain={again} />;
  return (
    <section class="stack tight">
      <h2>{words.batches}</h2>
      <Table
        label={words.batches}
        rows={data}
        idOf={({ batch_id, name }) => (batch_id === '' ? name : batch_id)}
        columns={[
          {
            title: w().name,
            cell: ({ batch_id, name }) => (
              <Link
                to={
                  batch_id === ''
                    ? `codes?keyword=${encodeURIComponent(name)}`
                    : `codes?batch_id=${batch_id}`
                }
              >
                {name}
              </Link>
            ),
          },
          { title: words.made, numeric: true, cell: ({ made }) => <Count value={made} /> },
          { title: words.used, numeric: true, cell: ({ used }) => <Count value={used} /> },
          { title: wp().keys.left, numeric: true, cell: ({ left }) => <Count value={left} /> },
          {
            title: words.leftWorth,
            numeric: true,
            cell: ({ left_quota }) => <Money units={left_quota} />,
          },
          createdOf(),
        ]}
        actions={(batch) =>
          batch.left === 0 || !isAdmin() ? null : (
            <Button
              kind="quiet"
              label={`${words.disableRest} ${batch.name}`}
              onClick={() => setDisabling(batch)}
            >
              {words.disableRest}
            </Button>
          )
        }
      />
      {disabling === undefined ? null : (
        <DisableRest batch={disabling} onClose={() => setDisabling(undefined)} />
      )}
    </section>
  );
}

function DisableRest({
  batch: { batch_id, name, left },
  onClose,
}: Closable & { readonly batch: Batch }) {
  const words = wp().codes;
  return (
    <ConfirmWrite
      title={words.disableRestTitle(name)}
      action={w().disable}
      write={(why) =>
        call('disableRedemptionBatch', {
          body: batch_id === '' ? { name, ...why } : { batch_id, ...why },
        })
      }
      onDone={(count) => toast(words.disabledCount(count))}
      onClose={onClose}
    >
      <p>{words.disableRestHelp(left)}</p>
    </ConfirmWrite>
  );
}
