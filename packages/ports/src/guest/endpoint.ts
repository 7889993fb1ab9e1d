/**
 * The address and headers of an agent's OpenAI-compatible endpoints. `headers` hold the gateway's token, which only the host
 * knows. They alone name the conversation of the turn; the body does not.
 */
export interface ChatEndpoint {
  /** URL without a trailing slash under which are `POST chat/completions` and `POST responses`. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The value that the runtime expects in `model`. */
  readonly model: string;
  /** Whether pictures in the turn's request reach the model. */
  readonly takesPictures: boolean;
}
