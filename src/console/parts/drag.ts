/** What makes the items of a list draggable among each other. Keys move them too: see the menus and buttons beside them. */
export interface DragProps {
  readonly draggable: true;
  readonly onDragStart: (event: DragEvent) => void;
  readonly onDragOver: (event: DragEvent) => void;
  readonly onDrop: (event: DragEvent) => void;
}

/** `kind` keeps the items of one list out of another; `move` is told both places. */
export function dragging(
  kind: string,
  at: number,
  move: (from: number, to: number) => void,
): DragProps {
  const type = `application/x-${kind}`;
  const isOurs = (event: DragEvent): boolean => event.dataTransfer?.types.includes(type) === true;
  return {
    draggable: true,
    onDragStart(event) {
      event.dataTransfer?.setData(type, String(at));
    },
    onDragOver(event) {
      if (isOurs(event)) event.preventDefault();
    },
    onDrop(event) {
      if (!isOurs(event)) return;
      event.preventDefault();
      // The page takes what is dropped elsewhere for a file.
      event.stopPropagation();
      const from = Number(event.dataTransfer?.getData(type));
      if (from !== at) move(from, at);
    },
  };
}

/** The list with one item at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, at) => at !== from);
  return [...rest.slice(0, to), ...list.slice(from, from + 1), ...rest.slice(to)];
}
