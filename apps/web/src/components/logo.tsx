export function Logo() {
  return (
    <span className="inline-flex items-center gap-2.5">
      <svg viewBox="0 0 32 32" aria-hidden className="size-7">
        <rect width="32" height="32" rx="8" className="fill-accent" />
        <path
          d="M7 23 16 8l9 15M12.5 23 16 17l3.5 6"
          fill="none"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeLinejoin="round"
          className="stroke-on-accent"
        />
      </svg>
      <span className="text-base font-semibold tracking-tight">Lodge</span>
    </span>
  );
}
