/** The smallest channel: shows what somebody who is no HTTP request needs of the engine to talk to an agent. */
import { Refusal } from '@lodge/domain';
import { message } from '@lodge/engine';
import type { RunTurn } from '@lodge/engine';

export interface ToyChannelOptions {
  readonly runTurn: RunTurn;
  readonly accountId: string;
  readonly agentId: string;
}

export interface SentMessage {
  readonly to: string;
  readonly text: string;
  readonly files: readonly string[];
}

/** A platform of one process: messages come by `receive`, and what is sent back is kept. */
export class ToyChannel {
  readonly sent: SentMessage[] = [];
  private readonly options: ToyChannelOptions;
  private readonly closing = new AbortController();

  constructor(options: ToyChannelOptions) {
    this.options = options;
  }

  /** Each sender has a conversation. A refusal is an answer too. */
  async receive(from: string, text: string): Promise<void> {
    const { runTurn, accountId, agentId } = this.options;
    try {
      const answer = await runTurn({
        agentId,
        accountId,
        member: null,
        conversation: `toy:${from}`,
        origin: 'channel',
        said: message(text),
        wake: true,
        wakeTimeoutMs: 10_000,
        timeoutMs: 60_000,
        signal: this.closing.signal,
      });
      this.sent.push({ to: from, text: await answer.text(), files: await answer.files() });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.sent.push({ to: from, text: error.message, files: [] });
    }
  }

  close(): void {
    this.closing.abort();
  }
}
