import type { Json } from '@lodge/domain';
import type { GatewayAnswer, GatewayEvent } from '@lodge/ports';
import type { Turn } from '../agents/agents.ts';
import { filesIn } from './files.ts';
import { brokenOff, isPerhapsForPictures, refusalOf } from './refusals.ts';
import { withWaits } from './waits.ts';
import type { TurnEvent, TurnWait, WaitsOfTurn } from './waits.ts';

/** Longest text that is read as a whole. */
const maxTextChars = 1024 * 1024;

/**
 * An agent's answer. It is read once: as events, as a body, or as text and files. It ends done or with a `Refusal`, and the
 * agent's keep-awake lease ends with it. The turn's changes are on the agent's disk before the reader knows of the end.
 */
export interface Answer {
  /** Resolves once the agent has accepted the turn. */
  readonly opened: Promise<void>;
  /** The events as they come, for a request with `stream: true`. */
  events(): AsyncIterable<TurnEvent>;
  /** The body, for any other request. */
  body(): Promise<Json>;
  /** The whole text, for either. `onText` gets each addition as it comes, for a request with `stream: true`. */
  text(onText?: (text: string) => void): Promise<string>;
  /** Paths of the files below /workspace that the text links to. */
  files(): Promise<readonly string[]>;
  /** Whether it failed with pictures before the model answered anything; without them it may succeed. */
  readonly isPerhapsForPictures: boolean;
  /** Calls of the turn that waited for a decision, and have none. */
  undecided(): readonly TurnWait[];
}

export interface AnswerParts {
  readonly gatewayAnswer: Promise<GatewayAnswer>;
  readonly streams: boolean;
  /** Whether pictures went to the agent with the request. */
  readonly withPictures: boolean;
  readonly turn: Turn;
  readonly waits: WaitsOfTurn;
  readonly flush: () => Promise<void>;
  /** Ends the turn and its keep-awake lease. */
  readonly end: () => void;
}

export class TurnAnswer implements Answer {
  readonly opened: Promise<void>;
  isPerhapsForPictures = false;
  private readonly parts: AnswerParts;
  private wholeText: Promise<string> | null = null;

  constructor(parts: AnswerParts) {
    this.parts = parts;
    this.opened = parts.gatewayAnswer.then(
      () => undefined,
      (error: unknown) => {
        parts.end();
        throw this.failed(error, refusalOf);
      },
    );
    // A caller that reads the answer without waiting for `opened` gets the error there.
    this.opened.catch(() => undefined);
  }

  async *events(): AsyncGenerator<TurnEvent> {
    const { gatewayAnswer, waits, flush, end } = this.parts;
    try {
      for await (const event of withWaits(eventsOf(gatewayAnswer), waits)) {
        if (event.isLast) await flush();
        yield event;
        if (event.isLast) return;
      }
    } catch (error) {
      throw this.failed(error, brokenOff);
    } finally {
      end();
    }
  }

  async body(): Promise<Json> {
    return (await this.whole()).body;
  }

  undecided(): readonly TurnWait[] {
    return this.parts.waits.undecided();
  }

  text(onText?: (text: string) => void): Promise<string> {
    return (this.wholeText ??= this.parts.streams ? this.streamedText(onText) : this.whole().then(({ text }) => text));
  }

  async files(): Promise<readonly string[]> {
    return filesIn(await this.text());
  }

  private async whole() {
    const { gatewayAnswer, flush, end } = this.parts;
    try {
      const whole = await (await gatewayAnswer).whole();
      await flush();
      return whole;
    } catch (error) {
      throw this.failed(error, refusalOf);
    } finally {
      end();
    }
  }

  private async streamedText(onText?: (text: string) => void): Promise<string> {
    const texts: string[] = [];
    let length = 0;
    for await (const { text } of this.events()) {
      length += text.length;
      if (length > maxTextChars) throw brokenOff(new Error('the text is too long'));
      if (text === '') continue;
      texts.push(text);
      onText?.(text);
    }
    return texts.join('');
  }

  /** Lodge's own knowledge of the turn's model calls comes first, whatever the runtime reports. */
  private failed(error: unknown, asRefusal: (error: unknown) => unknown): unknown {
    const { turn, withPictures } = this.parts;
    if (turn.refusal !== null) return turn.refusal;
    this.isPerhapsForPictures = withPictures && !turn.hasModelAnswered && isPerhapsForPictures(error);
    return asRefusal(error);
  }
}

/** The events of an answer that may not be there yet: a call may wait before the gateway says anything. */
async function* eventsOf(answer: Promise<GatewayAnswer>): AsyncGenerator<GatewayEvent> {
  yield* (await answer).events();
}

/** A longer answer is cut. */
export const maxAnswerChars = 64 * 1024;

/** Makes an answer acceptable to a database and a platform: a guest wrote it. */
export const plainAnswer = (text: string): string =>
  text.slice(0, maxAnswerChars).replaceAll('\0', '').toWellFormed().trim();
