import { Argument, type Command, type Option } from 'commander';
import type { CliIo } from './session.js';

/** A command as a shell completes it: where it is, such as `/keys/create`, and what may follow. */
interface Place {
  readonly place: string;
  /** Every way to write it, by its name and by its short ones. */
  readonly written: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly Option[];
  /** What its first argument may be. */
  readonly choices: readonly string[];
}

const WRITERS = { bash, zsh, fish };

/** Adds the command that prints a script for a shell, which knows all commands of the program. */
export function addCommands(program: Command, io: CliIo): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'of which shell').choices(Object.keys(WRITERS)))
    .addHelpText(
      'after',
      `
bash: rerank-gateway completion bash > ~/.local/share/bash-completion/completions/rerank-gateway
zsh:  rerank-gateway completion zsh > "\${fpath[1]}/_rerank-gateway"
fish: rerank-gateway completion fish > ~/.config/fish/completions/rerank-gateway.fish`,
    )
    .action((shell: keyof typeof WRITERS) => io.writeOut(WRITERS[shell](placesIn(program))));
}

function placesIn(command: Command, place = '', written: readonly string[] = ['']): Place[] {
  const { commands, options } = command;
  const here = {
    ...{ place, written, options },
    commands: commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  const below = commands.flatMap((sub) =>
    placesIn(
      sub,
      `${place}/${sub.name()}`,
      [sub.name(), ...sub.aliases()].map((name) => `${place}/${name}`),
    ),
  );
  return [here, ...below];
}

/** What may be typed at a place; the options of the program, the first place, everywhere. */
function wordsOf({ commands, options, choices }: Place, [root]: readonly Place[]): string {
  const all = new Set([...options, ...(root?.options ?? [])]);
  const flags = [...all].flatMap(({ long }) => (long === undefined ? [] : [long]));
  return [...commands.map(({ name }) => name), ...choices, ...flags, '--help'].join(' ');
}

/** The cases that follow a line to the command that is being typed. */
function steps(
  places: readonly Place[],
  render: (written: readonly string[], to: string) => string,
) {
  return places.slice(1).map(({ written, place }) => render(written, place));
}

/** Options that take one of several words, by `<place> <option>`. */
function valued(places: readonly Place[]): (readonly [place: string, option: Option])[] {
  return places.flatMap(({ place, options }) =>
    options
      .filter(({ required, optional }) => required || optional)
      .map((option) => [place, option] as const),
  );
}

function valueCases(places: readonly Place[], nothing: string): string[] {
  return valued(places).map(([place, { long, argChoices }]) => {
    const does = argChoices === undefined ? nothing : `candidates='${argChoices.join(' ')}'`;
    return `    ${place === '' ? '*' : ''}'${place} ${long ?? ''}') ${does} ;;`;
  });
}

function bash(places: readonly Place[]): string {
  return `# bash completion for rerank-gateway
_rerank_gateway() {
  local current=\${COMP_WORDS[COMP_CWORD]} place='' word candidates=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place/$word" in
${steps(places, (written, to) => `      ${written.join('|')}) place=${to} ;;`).join('\n')}
    esac
  done
  COMPREPLY=()
  case "$place \${COMP_WORDS[COMP_CWORD-1]}" in
${valueCases(places, 'return').join('\n')}
    *) case "$place" in
${places.map((place) => `      '${place.place}') candidates='${wordsOf(place, places)}' ;;`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _rerank_gateway rerank-gateway
`;
}

function zsh(places: readonly Place[]): string {
  return `#compdef rerank-gateway
_rerank_gateway() {
  local place='' word candidates=''
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place/$word" in
${steps(places, (written, to) => `      ${written.join('|')}) place=${to} ;;`).join('\n')}
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${valueCases(places, '_files; return').join('\n')}
    *) case "$place" in
${places.map((place) => `      '${place.place}') candidates='${wordsOf(place, places)}' ;;`).join('\n')}
    esac ;;
  esac
  compadd -- \${=candidates} || _files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _rerank_gateway "$@"; else compdef _rerank_gateway rerank-gateway; fi
`;
}

function fish(places: readonly Place[]): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const on = 'complete -c rerank-gateway';
  const at = (place: string): string => `${on} -n 'test "$(__rerank_gateway_place)" = "${place}"'`;
  const lines = places.flatMap(({ place, commands, options, choices }) => [
    ...commands.map(
      ({ name, description }) => `${at(place)} -f -a ${name} -d ${quoted(description)}`,
    ),
    ...(choices.length === 0 ? [] : [`${at(place)} -f -a '${choices.join(' ')}'`]),
    ...options.flatMap(({ long, description, required, optional, argChoices }) => {
      if (long === undefined) return [];
      const value = argChoices !== undefined ? ` -x -a '${argChoices.join(' ')}'` : ' -r';
      return [
        `${place === '' ? on : at(place)} -l ${long.slice(2)}${required || optional ? value : ''} -d ${quoted(description)}`,
      ];
    }),
  ]);
  return `# fish completion for rerank-gateway
function __rerank_gateway_place
  set -l place ''
  for word in (commandline -opc)[2..]
    switch "$place/$word"
${steps(places, (written, to) => `      case ${written.join(' ')}\n        set place ${to}`).join('\n')}
    end
  end
  echo $place
end
${lines.join('\n')}
`;
}
