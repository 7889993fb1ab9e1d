import { explain, requestOf } from '../messages.ts';

interface ReasonProps {
  readonly error: unknown;
  /** Words for some codes in this place. */
  readonly here?: Readonly<Record<string, string>> | undefined;
}

/** The reason of a failure in a sentence, and the request's id where the operator may have to look for it. */
export function Reason({ error, here }: ReasonProps) {
  const request = requestOf(error);
  return (
    <>
      {explain(error, here)}
      {request !== undefined && (
        <span className="block text-[0.8125rem] text-muted">
          Request <span className="font-mono wrap-anywhere select-all">{request}</span>
        </span>
      )}
    </>
  );
}
