/**
 * Steps of a turn's tools. Names and titles come from a guest, so each is one short line of printable text, and a turn has a
 * bounded number of steps at a bounded rate. Steps beyond are left out; the answer goes on.
 */
import type { Json } from '@lodge/domain';
import type { ReadToolStep, ToolStep } from '@lodge/ports';

const maxSteps = 1_000;
/** Most steps that begin within a second. A model calls some dozen tools at once. */
const maxStepsASecond = 100;
const maxToolChars = 100;
const maxTitleChars = 160;
/** Characters of a guest's text that are looked at for each that is kept, because some are left out. */
const lookedAt = 4;

interface Open {
  readonly id: string;
  readonly tool: string;
  readonly title: string;
}

/** The steps of one turn. Each has an id of its own, begins once and ends at most once, whatever the guest says. */
export class Steps {
  private readonly read: ReadToolStep;
  private readonly now: () => number;
  /** Steps that have begun and not ended, by the guest's name of the call. */
  private readonly open = new Map<string, Open>();
  private begun = 0;
  private second = { since: 0, begun: 0 };

  constructor(read: ReadToolStep, now: () => number = () => performance.now()) {
    this.read = read;
    this.now = now;
  }

  /** Reads an event with a name. Null when it is no step, or one too many. */
  next(event: string, data: Json): ToolStep | null {
    const reported = this.read(event, data);
    if (reported === null || reported.call === '' || reported.call.length > maxCallChars) return null;
    const { call, status } = reported;
    if (status === 'started') return this.begin(call, line(reported.tool, maxToolChars), reported.title);
    const begun = this.open.get(call);
    if (!begun || !this.open.delete(call)) return null;
    return stepOf({ ...begun, title: begun.title || line(reported.title, maxTitleChars) }, status);
  }

  private begin(call: string, tool: string, title: string): ToolStep | null {
    if (tool === '' || this.open.has(call) || this.isTooMany()) return null;
    this.begun += 1;
    const begun = { id: `step_${this.begun}`, tool, title: line(title, maxTitleChars) };
    this.open.set(call, begun);
    return stepOf(begun, 'started');
  }

  private isTooMany(): boolean {
    if (this.begun >= maxSteps) return true;
    const now = this.now();
    if (now - this.second.since >= 1_000) this.second = { since: now, begun: 0 };
    this.second.begun += 1;
    return this.second.begun > maxStepsASecond;
  }
}

/** A model's names of its calls have some dozen characters. */
const maxCallChars = 500;

const stepOf = ({ id, tool, title }: Open, status: ToolStep['status']): ToolStep => ({
  id,
  tool,
  status,
  ...(title !== '' && { title }),
});

/** Returns the text as one line of bounded length, without characters that control a terminal or turn its direction. */
function line(text: string, maxChars: number): string {
  const plain = text
    .slice(0, lookedAt * maxChars)
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const characters = Array.from(plain);
  return characters.length <= maxChars
    ? plain
    : `${characters
        .slice(0, maxChars - 1)
        .join('')
        .trimEnd()}…`;
}
