import type { Json } from '@lodge/domain';
import type { TokenUsage } from '@lodge/ports';
import type { TextWeight } from '../json/scanner.ts';
import { noTokens } from '../wires/wire.ts';
import type { Wire } from '../wires/wire.ts';

const bytesPerToken = 4;
const tokensPerImage = 1500;
/** In a shorter request nothing is taken for an image. */
const longRequest = 64 * 1024;

/** Tokens a request of so many bytes is likely to be. */
export function estimateInput(bytes: number, { embedded, embeddedBytes }: TextWeight): number {
  if (bytes < longRequest) return Math.ceil(bytes / bytesPerToken);
  return Math.ceil((bytes - embeddedBytes) / bytesPerToken) + embedded * tokensPerImage;
}

/** Where a meter stands, as plain data. */
export interface MeterState {
  readonly reported: TokenUsage;
  /** Whether the report covers everything that the model has written so far. */
  readonly reportedAll: boolean;
  readonly failed: boolean;
  /** Characters that the model said. */
  readonly said: number;
}

/** Usage of one call as it goes by. */
export class TokenMeter {
  readonly #wire: Wire;
  #reported: TokenUsage = noTokens;
  #reportedAll = false;
  #failed = false;
  #said = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  get state(): MeterState {
    return { reported: this.#reported, reportedAll: this.#reportedAll, failed: this.#failed, said: this.#said };
  }

  set state({ reported, reportedAll, failed, said }: MeterState) {
    this.#reported = reported;
    this.#reportedAll = reportedAll;
    this.#failed = failed;
    this.#said = said;
  }

  /** A reply, or an event of a stream. */
  read(reply: Json): void {
    const said = textLength(this.#wire.said(reply));
    this.#said += said;
    this.#reported = this.#wire.count(reply, this.#reported);
    if (this.#wire.countsAll(reply)) this.#reportedAll = true;
    else if (said > 0) this.#reportedAll = false;
    this.#failed ||= this.#wire.isFailure(reply);
  }

  /** Part of a reply that never became whole. */
  readPart(bytes: number): void {
    this.#said += bytes;
  }

  /**
   * Tokens of the call so far, where it was answered: what was told, and where that is not all of it, what can be reckoned
   * from what was said, and no less than `leastOutput`.
   */
  usage(inputEstimate: number, leastOutput = 0): { readonly usage: TokenUsage; readonly estimated: boolean } {
    if (this.#reportedAll) return { usage: this.#reported, estimated: false };
    const outputTokens = Math.max(this.#reported.outputTokens ?? 0, Math.ceil(this.#said / bytesPerToken), leastOutput);
    return {
      usage: { ...this.#reported, inputTokens: this.#reported.inputTokens ?? inputEstimate, outputTokens },
      estimated: true,
    };
  }

  /** Whether the provider told that the call failed. */
  get isFailed(): boolean {
    return this.#failed;
  }

  /** Whether it told so instead of an answer: the model said nothing, and no usage was told. */
  get isFailedAtOnce(): boolean {
    return this.#failed && this.#said === 0 && Object.values(this.#reported).every((count) => count === null);
  }
}

/** Names and marks that no model says, and images, which are no text. */
const unsaid = new Set(
  'id role type index call_id item_id name signature thoughtSignature encrypted_content data b64_json result mimeType'.split(
    ' ',
  ),
);

function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const [key, part] of Object.entries(value)) if (!unsaid.has(key)) length += textLength(part);
  return length;
}
