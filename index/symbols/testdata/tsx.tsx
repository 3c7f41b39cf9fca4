import React, { useState } from 'react'
import { Button } from '@/components/button'

type Props = { title: string }

export const Card: React.FC<Props> = ({ title }) => {
  const [open, setOpen] = useState(false)
  return <div className="card">{title}<Button onClick={() => setOpen(!open)} /></div>
}

export default function App() {
  return (
    <Card title="x" />
  )
}

const Memo = React.memo(function Inner() { return <p>{"{"}</p> })
