import { useState } from "react";

const GRAMS_PER_LITRE = 60;

/** A component inside an article. */
export function Ratio() {
  const [water, setWater] = useState(500);
  return (
    <form>
      <label htmlFor="water">Water, in ml</label>
      <input
        id="water"
        type="number"
        min={100}
        max={2000}
        step={50}
        value={water}
        onChange={({ target }) => setWater(target.valueAsNumber)}
      />
      <p>
        Coffee: <output htmlFor="water">{Math.round(((water || 0) * GRAMS_PER_LITRE) / 1000)} g</output>
      </p>
    </form>
  );
}
