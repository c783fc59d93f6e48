import { useEffect, useMemo, useState } from 'preact/hooks';
import {
  documentsOfFile,
  documentsOfTable,
  documentsOfText,
  tableOf,
  textOfBytes,
  textOfDocuments,
  type DocumentsIn,
  type Table,
} from '../../../core/documents-in.js';
import { moved } from '../../parts/drag.js';
import type { LaneSpec } from '../../lib/lanes.js';
import type { Shared } from '../../lib/share.js';
import type { Ids, Labels } from './inputs.js';
import {
  NO_QUERIES,
  byIndex,
  byText,
  idsOf,
  labelsOf,
  savedIn,
  timesOf,
  uniqueLanes,
  type QueriesFile,
} from './inputs.js';

const PROBLEMS_TOLD = 20;

/** What is typed, dropped and picked on the page; `onWhole` is told of a whole page that took its place. */
export function useInputs(begun: Shared, onWhole: (shared: Shared) => void) {
  const [query, setQuery] = useState(begun.query);
  const [text, setText] = useState(begun.documents);
  const [labels, setLabels] = useState<Labels>(() => labelsOf(begun));
  const [ids, setIds] = useState<Ids>(() => idsOf(begun));
  const [specs, setSpecs] = useState(begun.lanes);
  const [options, setOptions] = useState(begun.options);
  const [times, setTimes] = useState(() => timesOf(begun));
  const [table, setTable] = useState<Table>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [file, setFile] = useState<QueriesFile>(begun.many ?? NO_QUERIES);
  const documents = useMemo(() => documentsOfText(text), [text]);
  const setLanes = (next: readonly LaneSpec[]): void => setSpecs(uniqueLanes(next));

  function put(shared: Shared): void {
    setTable(undefined);
    setProblems([]);
    setQuery(shared.query);
    setText(shared.documents);
    setLanes(shared.lanes);
    setLabels(labelsOf(shared));
    setIds(idsOf(shared));
    setOptions(shared.options);
    setTimes(timesOf(shared));
    setFile(shared.many ?? NO_QUERIES);
    onWhole(shared);
  }

  function takeRead(read: DocumentsIn): boolean {
    setProblems(read.problems.slice(0, PROBLEMS_TOLD));
    if (read.query !== undefined) setQuery(read.query);
    if (read.documents.length === 0) return false;
    const next = textOfDocuments(read.documents);
    // Labels and ids are keyed by the texts as they will be read back from the field.
    const listed = documentsOfText(next);
    setText(next);
    setLabels(byText(listed, read.labels));
    setIds(byText(listed, read.ids));
    return true;
  }

  function takeText(name: string, content: string): boolean {
    const saved = savedIn(name, content);
    if (saved !== undefined) {
      put(saved);
      return true;
    }
    const found = tableOf(name, content);
    setTable(found);
    return takeRead(found === undefined ? documentsOfFile(name, content) : documentsOfTable(found));
  }

  async function takeFile(taken: File | undefined): Promise<void> {
    if (taken === undefined) return;
    takeText(taken.name, textOfBytes(new Uint8Array(await taken.arrayBuffer())));
  }

  return {
    ...{ query, setQuery, text, setText, documents, labels, setLabels, ids },
    ...{ specs, setLanes, options, setOptions, times, setTimes, file, setFile },
    ...{ problems, table, put, takeText, takeFile },
    moveLane: (from: number, to: number) => setLanes(moved(specs, from, to)),
    takeTable: (next: Table) => {
      setTable(next);
      takeRead(documentsOfTable(next));
    },
    /** All of it without results, for a link or a file. */
    shared: {
      ...{ query, documents: text, lanes: specs, options, runs: Number(times) },
      labels: byIndex(documents, labels),
      ids: byIndex(documents, ids),
      results: [],
    } satisfies Shared,
  };
}

export type Inputs = ReturnType<typeof useInputs>;

/** Takes a file that is dropped anywhere on the page. */
export function useDroppedFile(take: (file: File) => Promise<void>): void {
  useEffect(() => {
    const onDrag = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    const onDrop = (event: DragEvent): void => {
      const [dropped] = event.dataTransfer?.files ?? [];
      if (dropped === undefined) return;
      event.preventDefault();
      void take(dropped);
    };
    document.addEventListener('dragover', onDrag);
    document.addEventListener('drop', onDrop);
    return () => {
      document.removeEventListener('dragover', onDrag);
      document.removeEventListener('drop', onDrop);
    };
  });
}
