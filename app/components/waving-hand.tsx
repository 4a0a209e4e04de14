/** Decoration, with a light behind it and a shadow below (app.css). After two greetings it rests. */
export function WavingHand() {
  return (
    <div className="hand" aria-hidden="true">
      <span>👋</span>
    </div>
  );
}
