import { LogFile } from './log-file.ts';

/** The daemon's own log: what it was asked to do and what went wrong. Never the contents of files, commands or their output. */
export class Journal {
  readonly file: LogFile;

  constructor(folder: string) {
    this.file = new LogFile(folder);
  }

  info(message: string): void {
    this.write('info', message);
  }

  error(message: string, error?: unknown): void {
    const detail = error instanceof Error ? `: ${error.stack ?? error.message}` : '';
    this.write('error', message + detail);
  }

  private write(level: string, message: string): void {
    try {
      this.file.append(`${new Date().toISOString()} ${level} ${message.replaceAll('\n', '\n  ')}`);
    } catch {
      // A full disk must not take the daemon down.
    }
  }
}
