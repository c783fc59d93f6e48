import { about } from '../../about.js';
import { save, type ReplyOf } from '../../api/call.js';
import { Button, CopyButton, Link } from '../../parts/buttons.js';
import { KeyCode } from '../../parts/code.js';
import { useShownOnce } from '../../parts/confirm-write.js';
import { Dialog, type Closable } from '../../parts/dialog.js';
import { gatewayAddress, navigate } from '../../router.js';
import { wp } from '../../words.js';
import type { Key } from './view.js';

export type Made = ReplyOf<'createToken'>;

/** Where the playground shows what a key may do; it ranks there with the login, not with the key. */
function playgroundOf({ model_limits_enabled: limited, model_limits: models, default_model }: Key) {
  const model = default_model ?? (limited ? models[0] : undefined) ?? about.get()?.default_model;
  return model == null ? 'playground' : `playground?model=${encodeURIComponent(model)}`;
}

/** Opens the playground with a model that the key may name. */
export function TryKey({ token }: { readonly token: Key }) {
  return (
    <Link class="button" to={playgroundOf(token)}>
      {wp().keys.tryIt}
    </Link>
  );
}

/** What a program reads its key and the address from. */
function envOf({ key }: Made): string {
  return `KEY=${key}\nRERANK_URL=${gatewayAddress()}/v1/rerank\n`;
}

/** The key itself exists only in this dialog, and is gone when it closes. */
export function ShownOnce({ made, onClose }: Closable & { readonly made: Made }) {
  const { warns, leaving, note, take, copied, close } = useShownOnce(onClose);
  return (
    <Dialog
      title={wp().keys.madeTitle(made.name)}
      onClose={close}
      foot={
        <>
          <CopyButton text={made.key} label={wp().keys.copyKey} kind="main" onCopied={copied} />
          <Button
            onClick={() => {
              save(`${made.name.replaceAll(/[^\w.-]+/g, '-')}.env`, new Blob([envOf(made)]));
              take();
            }}
          >
            {wp().keys.saveEnv}
          </Button>
          <Button
            onClick={() => {
              if (close()) navigate(playgroundOf(made));
            }}
          >
            {wp().keys.tryIt}
          </Button>
          <Button onClick={close}>{leaving ? wp().keys.closeAnyway : wp().keys.done}</Button>
        </>
      }
    >
      {warns ? (
        <p class="notice warn-bar" role="alert">
          {wp().keys.notCopied}
        </p>
      ) : null}
      <p class="muted" role="status">
        {note}
      </p>
      <div class="secret">{made.key}</div>
      <KeyCode of={made} apiKey={made.key} />
    </Dialog>
  );
}
