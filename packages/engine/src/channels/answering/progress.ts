import { platformOf } from '@lodge/domain';
import type { WaitingConversation } from '@lodge/ports';
import type { AnsweringBounds } from './bounds.ts';
import type { ChannelTurns } from './turns.ts';

export interface TellingDeps {
  readonly turns: Pick<ChannelTurns, 'tell'>;
  readonly bounds: Pick<AnsweringBounds, 'tellEveryMs'>;
}

/** Only the end of the text is shown, up to this length. */
const maxTellChars = 1_000;

/**
 * Reports now and then what the agent has said so far, for a relay to show. It is decoration: it waits for nothing, nothing
 * waits for it, and a failed report does not matter. Short turns report nothing.
 */
export class Telling {
  private readonly deps: TellingDeps;
  private readonly conversation: WaitingConversation;
  private readonly timer: NodeJS.Timeout | null;
  private said = '';
  private lastSaid = '';
  private isTelling = false;

  constructor(deps: TellingDeps, conversation: WaitingConversation) {
    this.deps = deps;
    this.conversation = conversation;
    const isShown = conversation.kind === 'direct' && platformOf(conversation.channel).hasProgress;
    this.timer = isShown ? setInterval(() => void this.tell(), deps.bounds.tellEveryMs) : null;
  }

  add(text: string): void {
    if (this.timer === null) return;
    this.said = (this.said + text.slice(-maxTellChars)).slice(-maxTellChars);
  }

  end(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  private async tell(): Promise<void> {
    const { said } = this;
    if (this.isTelling || said === this.lastSaid) return;
    this.isTelling = true;
    try {
      if (await this.deps.turns.tell(this.conversation, said)) this.lastSaid = said;
      else this.end();
    } catch {
      // The next report may get through.
    } finally {
      this.isTelling = false;
    }
  }
}
