/** Where and how to speak to an agent's OpenAI-compatible endpoints. `headers` hold the gateway's token: host only. They name the conversation of the turn, and so does nothing in the body. */
export interface ChatEndpoint {
  /** URL without a trailing slash under which are `POST chat/completions` and `POST responses`. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the runtime wants in `model`. */
  readonly model: string;
  /** Whether pictures in the turn's request reach the model. */
  readonly takesPictures: boolean;
}
