/** Puts the focus on the page's heading: after a change of page, or when what had it is gone. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus();
}
