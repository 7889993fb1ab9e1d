/**
 * Shows a turn while it goes on: a spinner while the agent says nothing, a dim line on stderr for each use of a tool, and the
 * answer on stdout. With --json each step is a line of JSON, and the answer is left to the caller.
 */
import type { ToolStep } from '@lodge/sdk';
import type { Output } from '../terminal/output.ts';
import { beginProgress } from '../terminal/progress.ts';
import type { Progress } from '../terminal/progress.ts';
import { safeLine } from '../terminal/safe.ts';
import { LiveAnswer } from './live.ts';

const maxNameChars = 60;
const maxToolChars = 100;
const maxTitleChars = 160;

export class ShownTurn {
  readonly #out: Output;
  readonly #words: string;
  #progress: Progress;
  #answer: LiveAnswer | undefined;

  constructor(out: Output, name: string) {
    this.#out = out;
    this.#words = `${safeLine(name, maxNameChars)} is working`;
    this.#progress = beginProgress(out, this.#words);
  }

  push(text: string): void {
    this.#progress.end();
    if (this.#out.isJson) return;
    this.#answer ??= new LiveAnswer(this.#out);
    this.#answer.push(text);
  }

  step(step: ToolStep): void {
    this.#progress.end();
    // The line would stand within a block that is shown anew. In a pipe the answer stays whole.
    if (this.#out.isTty) this.#endAnswer();
    if (this.#out.isJson) this.#out.item({ step }, () => '');
    else if (step.status !== 'completed') this.#out.note(this.#out.paintError('dim', lineOf(step)));
    if (this.#out.isErrTty) this.#progress = beginProgress(this.#out, this.#words);
  }

  end(): void {
    this.#progress.end();
    this.#endAnswer();
  }

  #endAnswer(): void {
    this.#answer?.end();
    this.#answer = undefined;
  }
}

function lineOf({ tool, status, title }: ToolStep): string {
  const name = `· ${safeLine(tool, maxToolChars)}${status === 'failed' ? ' failed' : ''}`;
  return typeof title === 'string' && title !== '' ? `${name}: ${safeLine(title, maxTitleChars)}` : name;
}
