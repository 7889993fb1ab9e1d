/** Where results and notes go: results to stdout, for people or as JSON; notes to stderr. */
import { safeJson, safeLine } from './safe.ts';
import { fields, table } from './table.ts';
import type { Column, TableForm } from './table.ts';

/** Colours and weights, as SGR parameters. */
const styles = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof styles;

export interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string | Uint8Array): boolean;
}

export interface OutputOptions {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One document of JSON instead of text for people; JSON lines for what goes on. */
  readonly isJson: boolean;
}

const widest = 400;
const narrowest = 20;

export class Output {
  readonly isJson: boolean;
  /** Whether people look at stdout. */
  readonly isTty: boolean;
  /** Whether people look at stderr, on a terminal that can move its cursor. */
  readonly isErrTty: boolean;
  readonly #options: OutputOptions;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.isJson = options.isJson;
    this.isTty = options.stdout.isTTY === true;
    this.isErrTty = options.stderr.isTTY === true && options.env['TERM'] !== 'dumb';
  }

  /** Columns of the terminal that stdout is, or 80. */
  get columns(): number {
    const { stdout, env } = this.#options;
    const given = stdout.columns ?? Number(env['COLUMNS']);
    return given > 0 ? Math.min(widest, Math.max(narrowest, given)) : 80;
  }

  /** Rows of the terminal that stdout is, or 24. */
  get rows(): number {
    return this.#options.stdout.rows ?? 24;
  }

  /** Prints one result: the value as JSON, or the text that `people` makes. Nothing follows it. */
  result(value: unknown, people: () => string): void {
    this.write(this.isJson ? `${safeJson(value, 2)}\n` : people());
  }

  /** Prints one of several results that come one after another: a line of JSON, or the text that `people` makes. */
  item(value: unknown, people: () => string): void {
    this.write(this.isJson ? `${safeJson(value)}\n` : people());
  }

  /** Prints rows as a table, or the value as JSON. The note is for a person who sees an empty table. */
  table<Row>(value: unknown, rows: readonly Row[], columns: readonly Column<Row>[], empty = 'None.'): void {
    this.result(value, () => (rows.length === 0 ? '' : table(rows, columns, this.form)));
    if (rows.length === 0 && !this.isJson) this.note(empty);
  }

  /** Returns names and values below each other. The values must be harmless already. */
  fields(pairs: readonly (readonly [string, string | null | undefined])[]): string {
    return fields(pairs, this.form);
  }

  /** Writes harmless text, or bytes that a person asked for, to stdout. */
  write(text: string | Uint8Array): void {
    this.#options.stdout.write(text);
  }

  /** Tells a person something beside the result. The text must be harmless already. */
  note(text: string): void {
    this.#options.stderr.write(`${text}\n`);
  }

  /** Writes to stderr as it is, for spinners and prompts. */
  writeError(text: string): void {
    this.#options.stderr.write(text);
  }

  /** Colours harmless text for stdout, if its reader wants colours. */
  paint(style: Style, text: string): string {
    return this.#painted(style, text, this.isTty);
  }

  /** Colours harmless text for stderr. */
  paintError(style: Style, text: string): string {
    return this.#painted(style, text, this.isErrTty);
  }

  /** Whether stdout takes colours. */
  get hasColours(): boolean {
    return wantsColours(this.#options.env, this.isTty) && !this.isJson;
  }

  /** The form of tables on stdout. */
  get form(): TableForm {
    return { columns: this.isTty ? this.columns : null, heading: (text) => this.paint('dim', text) };
  }

  #painted(style: Style, text: string, isTty: boolean): string {
    if (text === '' || !wantsColours(this.#options.env, isTty)) return text;
    const [on, off] = styles[style];
    return `\x1b[${on}m${text}\x1b[${off}m`;
  }
}

/** NO_COLOR and FORCE_COLOR say what they want; otherwise a terminal has colours, and a pipe has none. */
function wantsColours(env: OutputOptions['env'], isTty: boolean): boolean {
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '') return env['FORCE_COLOR'] !== '0';
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  return isTty && env['TERM'] !== 'dumb';
}

/** Returns a text of anybody as a cell of `fields`: one harmless line. */
export const cell = (text: string | number | boolean | null | undefined): string | null =>
  text === null || text === undefined ? null : safeLine(String(text));
