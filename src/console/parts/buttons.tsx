import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { hrefOf, navigate } from '../router.js';
import { w } from '../words.js';
import type { DragProps } from './drag.js';
import { hasModifier } from './keys.js';
import { toast } from './toast.js';

interface ButtonProps {
  readonly kind?: 'main' | 'plain' | 'danger' | 'quiet' | 'icon';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean | undefined;
  readonly title?: string | undefined;
  readonly label?: string | undefined;
  /** Whether a button that switches something is on. */
  readonly pressed?: boolean | undefined;
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
  readonly children: ComponentChildren;
}

export function Button({
  kind = 'plain',
  type = 'button',
  disabled = false,
  title,
  label,
  pressed,
  onClick,
  children,
}: ButtonProps) {
  const own = useRef<HTMLButtonElement>(null);
  // A button that ends while it works would take the focus with it.
  const held = disabled && own.current === document.activeElement;
  return (
    <button
      ref={own}
      class={`button ${kind}`}
      type={type}
      disabled={disabled && !held}
      aria-disabled={held || undefined}
      title={title}
      aria-label={label}
      aria-pressed={pressed}
      onClick={held ? (event) => event.preventDefault() : onClick}
    >
      {children}
    </button>
  );
}

/** A link within the console; opening it in a new tab or window still works, and Alt is left to what it stands in. */
export function Link({
  to,
  onOpen = () => navigate(to),
  class: className,
  current = false,
  title,
  children,
}: {
  readonly to: string;
  /** What a plain click does, if not that the page is left for the address. */
  readonly onOpen?: () => void;
  readonly class?: string | undefined;
  readonly current?: boolean;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <a
      class={className}
      href={hrefOf(to)}
      title={title}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.shiftKey || hasModifier(event)) return;
        event.preventDefault();
        onOpen();
      }}
    >
      {children}
    </a>
  );
}

export function Chip({
  children,
  onRemove,
  title,
  drag,
}: {
  readonly children: ComponentChildren;
  readonly onRemove?: () => void;
  readonly title?: string;
  readonly drag?: DragProps;
}) {
  return (
    <span class="chip" title={title} {...drag}>
      <span class="clip">{children}</span>
      {onRemove === undefined ? null : (
        <button type="button" aria-label={w().remove} onClick={onRemove}>
          ✕
        </button>
      )}
    </span>
  );
}

/** Calls `onCopied` only if the clipboard has it. */
export async function copyText(text: string, onCopied?: () => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(w().copied);
    onCopied?.();
  } catch (error) {
    // Pages without TLS have no clipboard, nor have pages that nobody has interacted with.
    console.info('no clipboard:', error);
    toast(w().notCopied);
  }
}

export function CopyButton({
  text,
  label,
  kind = 'plain',
  onCopied,
}: {
  readonly text: string;
  readonly label?: string;
  readonly kind?: 'plain' | 'main' | 'quiet';
  readonly onCopied?: () => void;
}) {
  return (
    <Button
      kind={kind}
      onClick={() => {
        void copyText(text, onCopied);
      }}
    >
      {label ?? w().copy}
    </Button>
  );
}

export function CodeBox({ text }: { readonly text: string }) {
  return (
    <div class="codebox">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <span class="copy">
        <CopyButton text={text} kind="quiet" />
      </span>
    </div>
  );
}
