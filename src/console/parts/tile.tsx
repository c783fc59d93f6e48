import type { ComponentChildren } from 'preact';

/** A number with what it is, and what else there is to say of it. */
export function Tile({
  title,
  note,
  children,
}: {
  readonly title: string;
  readonly note: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <div class="card tile">
      <span class="muted">{title}</span>
      <div class="value">{children}</div>
      <span class="small muted">{note}</span>
    </div>
  );
}
