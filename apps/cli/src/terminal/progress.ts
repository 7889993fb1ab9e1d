/** Tells a person on stderr that something takes its time: a spinner on a terminal, one line elsewhere. */
import { cut } from './width.ts';
import type { Output } from './output.ts';

const afterMs = 1000;
const frameMs = 100;
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const clearLine = '\r\x1b[K';

export interface Progress {
  /** Says something else from now on; the text must be harmless. */
  say(text: string): void;
  /** Removes the spinner. It can be called twice. */
  end(): void;
}

/** Begins to wait. Nothing is shown in the first second. */
export function beginProgress(out: Output, text: string): Progress {
  let now = text;
  let frame = 0;
  let ticker: NodeJS.Timeout | undefined;
  const begun = Date.now();
  const show = (): void => {
    const seconds = Math.floor((Date.now() - begun) / 1000);
    const line = cut(`${frames[frame % frames.length]} ${now} (${seconds} s)`, out.columns - 1);
    frame += 1;
    out.writeError(`${clearLine}${line}`);
  };
  const first = setTimeout(() => {
    if (!out.isErrTty) {
      out.note(`${now} ...`);
      return;
    }
    show();
    ticker = setInterval(show, frameMs);
    ticker.unref();
  }, afterMs);
  first.unref();
  return {
    say(text) {
      if (text === now) return;
      now = text;
      if (!out.isErrTty && Date.now() - begun > afterMs) out.note(`${now} ...`);
    },
    end() {
      clearTimeout(first);
      if (ticker === undefined) return;
      clearInterval(ticker);
      ticker = undefined;
      out.writeError(clearLine);
    },
  };
}

/** Does something, and shows that it takes its time. */
export async function withProgress<T>(out: Output, text: string, work: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = beginProgress(out, text);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}
