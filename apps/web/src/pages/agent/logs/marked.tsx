/** Marks beyond this number would only slow the page. */
const maxMarks = 50;

/** A text with each place marked where a part of it is found, in any case. */
export function Marked({ text, part }: { text: string; part: string }) {
  if (part === '') return text;
  const lowered = text.toLowerCase();
  const wanted = part.toLowerCase();
  // A few letters become longer in lower case, and would shift the marks.
  if (lowered.length !== text.length) return text;
  const pieces = [];
  let from = 0;
  for (let at = lowered.indexOf(wanted); at >= 0 && pieces.length < maxMarks * 2; at = lowered.indexOf(wanted, from)) {
    pieces.push(text.slice(from, at));
    from = at + wanted.length;
    pieces.push(
      <mark key={at} className="rounded-sm bg-accent-soft font-medium text-accent">
        {text.slice(at, from)}
      </mark>,
    );
  }
  return (
    <>
      {pieces}
      {text.slice(from)}
    </>
  );
}
